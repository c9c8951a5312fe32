# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counters and events of the Linux kernel, by libkmmv(3).

    import kmmv

    reader = kmmv.Reader()
    print(reader.read("stat.cpu", "user"))
    for event in reader.follow("default", timeout=1.0):
        print(event.type, event.instance, event.fields)
    print(kmmv.values()["stat.cpu"]["idle"])

Errors are OSError, with libkmmv's message. Reader.read() raises FileNotFoundError if the
device or the instance does not exist now; a later call may succeed.
"""

import ctypes
import dataclasses
import errno
import sys
import time
from typing import Dict, Iterator, Optional, Type, Union

_u16, _u32, _u64 = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
_text = ctypes.c_char_p
# enum kmmv_kind_of_field, kmmv_state, kmmv_sem
_SIGNED, _TEXT = 1, 3
_ACTIVE = 0
_COUNTER = 0
# One wait in C: until it ends, a signal of Python's is not handled.
_WAIT_MS = 200


class _Record(ctypes.Structure):
    _fields_ = [("time", _u64), ("lost", _u64), ("dropped", _u64), ("cpu", _u32),
                ("instance", _u32), ("incarnation", _u16), ("type", _u16), ("size", _u32),
                ("payload", ctypes.c_void_p), ("sequence", _u64), ("drops", _u64)]


class _Field(ctypes.Structure):
    _fields_ = [("name", _text), ("units", _text), ("kind", ctypes.c_int),
                ("offset", _u16), ("size", _u16)]


class _Followed(ctypes.Structure):
    _fields_ = [("record", _Record), ("realtime", _u64), ("type", _text),
                ("family", _text), ("instance", _text), ("nr_fields", _u32),
                ("fields", ctypes.POINTER(_Field))]


class _Info(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint), ("minor", ctypes.c_uint), ("features", _u64),
                ("epoch", _u64), ("generation", _u64), ("page_size", _u32),
                ("nr_cpus", _u32), ("nr_possible", _u32), ("nr_online", _u32),
                ("capacity", _u32), ("nr_instances", _u32), ("slots_free", _u32),
                ("nr_families", _u32), ("mapped", _u64), ("live", ctypes.c_bool),
                ("retries", _u64), ("rereads", _u64)]


class _Family(ctypes.Structure):
    _fields_ = [("id", _u32), ("name", _text), ("units", _text),
                ("semantics", ctypes.c_int), ("oneline", _text), ("help", _text),
                ("since_boot", ctypes.c_bool), ("total", ctypes.c_bool),
                ("source", ctypes.c_bool)]


class _Instance(ctypes.Structure):
    _fields_ = [("number", _u32), ("incarnation", _u32), ("family", _u32),
                ("state", ctypes.c_int), ("name", _text), ("label_key", _text),
                ("label", _text)]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL("libkmmv.so.1")
    handle = ctypes.c_void_p
    for name, result, arguments in (
            ("kmmv_open", ctypes.c_int, [_text, ctypes.POINTER(handle)]),
            ("kmmv_close", None, [handle]),
            ("kmmv_error", _text, [handle]),
            ("kmmv_refresh", ctypes.c_int, [handle, _u64, ctypes.POINTER(_u64)]),
            ("kmmv_get_info", None, [handle, ctypes.POINTER(_Info)]),
            ("kmmv_family_by_id", ctypes.POINTER(_Family), [handle, _u32]),
            ("kmmv_instance", ctypes.POINTER(_Instance), [handle, _u32]),
            ("kmmv_read_all", ctypes.c_int,
             [handle, ctypes.POINTER(_u64), ctypes.POINTER(ctypes.c_int), ctypes.c_size_t]),
            ("kmmv_reader_open", handle, [_text]),
            ("kmmv_reader_close", None, [handle]),
            ("kmmv_reader_detach", None, [handle]),
            ("kmmv_reader_error", _text, [handle]),
            ("kmmv_reader_family", ctypes.POINTER(_Family), [handle, _text]),
            ("kmmv_read", ctypes.c_int, [handle, _text, _text, ctypes.POINTER(_u64)]),
            ("kmmv_follow", ctypes.c_int,
             [handle, _text, ctypes.POINTER(_Followed), ctypes.c_int])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _sum(value: int, semantics: int) -> int:
    return value if semantics == _COUNTER else ctypes.c_int64(value).value


def _str(text: Optional[bytes]) -> str:
    # Names may have any bytes: what is no UTF-8 comes back as it was by _bytes().
    return (text or b"").decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True)
class Event:
    """An event; type is "" for losses that no event follows."""
    time: Optional[int]  # CLOCK_REALTIME in nanoseconds, if it is known
    cpu: int
    type: str
    family: str
    instance: str
    fields: Dict[str, Union[int, str]]
    lost: int
    dropped: int


def _field(field: _Field, record: _Record) -> Union[int, str, None]:
    size = field.size
    if field.kind == _TEXT:
        # An event may end with a text that is shorter than its field.
        rest = max(0, record.size - field.offset)
        size = min(size or rest, rest)
    if not record.payload or field.offset + size > record.size:
        return None
    raw = ctypes.string_at(record.payload + field.offset, size)
    if field.kind == _TEXT:
        return _str(raw.split(b"\0")[0])
    return int.from_bytes(raw, sys.byteorder, signed=field.kind == _SIGNED)


def _event(followed: _Followed) -> Event:
    record = followed.record
    fields = {}
    for i in range(followed.nr_fields):
        value = _field(followed.fields[i], record)
        if value is not None:
            fields[_str(followed.fields[i].name)] = value
    return Event(followed.realtime or None, record.cpu, _str(followed.type),
                 _str(followed.family), _str(followed.instance), fields,
                 record.lost, record.dropped)


class Reader:
    """Reads values and events of a directory, by default /dev/kmmv.

    It may be made before the module is loaded. While it has read something and is
    not detached, the module cannot be unloaded. Not for several threads at once.
    """

    def __init__(self, directory: Optional[str] = None) -> None:
        self._reader: Optional[int] = _library.kmmv_reader_open(
            _bytes(directory) if directory else None)
        if not self._reader:
            raise MemoryError

    def close(self) -> None:
        """Close it for good. Other methods, and a follow() that goes on, raise ValueError."""
        _library.kmmv_reader_close(self._reader)
        self._reader = None

    def detach(self) -> None:
        """Close the devices until the next read."""
        if self._reader:
            _library.kmmv_reader_detach(self._reader)

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *rest: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_reader", None):
            self.close()

    def _opened(self) -> int:
        if not self._reader:
            raise ValueError("this Reader is closed")
        return self._reader

    def _fail(self, err: int) -> OSError:
        return OSError(-err, _str(_library.kmmv_reader_error(self._reader)))

    def read(self, family: str, name: str) -> int:
        """The sum of an active instance over all CPUs; of a level, it may be negative."""
        value = _u64()
        err = _library.kmmv_read(self._opened(), _bytes(family), _bytes(name),
                                 ctypes.byref(value))
        if err:
            raise self._fail(err)
        found = _library.kmmv_reader_family(self._reader, _bytes(family))
        return _sum(value.value, found.contents.semantics if found else _COUNTER)

    def follow(self, ring: str = "default",
               timeout: Optional[float] = None) -> Iterator[Event]:
        """Events of a ring, oldest first, until none has come for timeout seconds."""
        followed = _Followed()
        begin = time.monotonic()
        while True:
            wait = _WAIT_MS
            if timeout is not None:
                left = begin + timeout - time.monotonic()
                wait = max(0, min(wait, int(left * 1000)))
            got = _library.kmmv_follow(self._opened(), _bytes(ring),
                                       ctypes.byref(followed), wait)
            if got == 1:
                yield _event(followed)
                begin = time.monotonic()
            elif got < 0 and got != -errno.EINTR:
                raise self._fail(got)
            elif timeout is not None and time.monotonic() >= begin + timeout:
                return


def values(directory: str = "/dev/kmmv") -> Dict[str, Dict[str, int]]:
    """The sums of all active instances, by family and name, as they are now."""
    handle = ctypes.c_void_p()
    err = _library.kmmv_open(_bytes(directory), ctypes.byref(handle))
    if err:
        raise OSError(-err, _str(_library.kmmv_error(None)))
    try:
        err = _library.kmmv_refresh(handle, 0, None)
        if err:
            raise OSError(-err, _str(_library.kmmv_error(handle)))
        info = _Info()
        _library.kmmv_get_info(handle, ctypes.byref(info))
        sums = (_u64 * info.nr_instances)()
        status = (ctypes.c_int * info.nr_instances)()
        _library.kmmv_read_all(handle, sums, status, info.nr_instances)
        found: Dict[str, Dict[str, int]] = {}
        for number in range(info.nr_instances):
            instance = _library.kmmv_instance(handle, number)
            if status[number] or not instance or instance.contents.state != _ACTIVE:
                continue
            family = _library.kmmv_family_by_id(handle, instance.contents.family)
            if family:
                found.setdefault(_str(family.contents.name), {})[
                    _str(instance.contents.name)] = _sum(
                        sums[number], family.contents.semantics)
        return found
    finally:
        _library.kmmv_close(handle)
