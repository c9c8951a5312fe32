#pmlogconf-setup 2.0
ident	ring buffers by pmdakmmv(1): counts of events, for each CPU
probe	kmmv.ring.mode exists ? available : exclude
	kmmv.ring.mode
	kmmv.ring.enabled
	kmmv.ring.reader
	kmmv.ring.reserved
	kmmv.ring.written
	kmmv.ring.read
	kmmv.ring.overwritten
	kmmv.ring.lost
	kmmv.ring.dropped
	kmmv.ring.discarded
	kmmv.ring.inside
	kmmv.ring.size
