#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make an MMV file with one 64-bit counter: mmvfile.py NAME INSTANCES

The file is in $PCP_TMP_DIR/mmv, the metric is mmv.NAME.count.
"""
import sys
from cpmapi import PM_COUNT_ONE, PM_SEM_COUNTER
from cmmv import MMV_TYPE_U64
from pcp.pmapi import pmUnits
from pcp.mmv import MemoryMappedValues, mmv_indom, mmv_instance, mmv_metric

name, count = sys.argv[1], int(sys.argv[2])
units = pmUnits(0, 0, 1, 0, 0, PM_COUNT_ONE)
indom = mmv_indom(1)
indom.set_instances([mmv_instance(i, "inst%d" % i) for i in range(count)])
metric = mmv_metric("count", 1, MMV_TYPE_U64, PM_SEM_COUNTER, units, 1)
# The Python wrapper does not set these two.
metric.semantics = PM_SEM_COUNTER
metric.dimension = units
values = MemoryMappedValues(name)
values.add_indom(indom)
values.add_metric(metric)
values.start()
if not values.started():
    sys.exit("mmvfile: no file made")
