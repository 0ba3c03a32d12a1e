package crashfs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // configures the library before it is used
	sqlite3 "modernc.org/sqlite/lib"
)

// Recorder is a registered VFS and what was done through it. It is safe for concurrent use.
type Recorder struct {
	name  string
	tls   *libc.TLS
	cname uintptr
	vfs   uintptr
	io    uintptr
	real  uintptr
	keep  []any // the functions C memory points to

	mu     sync.Mutex
	nextID uintptr
	open   map[uintptr]*file
	base   map[string][]byte // content when a file was first opened
	log    []event
	fault  *Fault
	done   map[Op]int
}

// file is one open handle.
type file struct {
	name    string // base name, the key of the log
	tracked bool
	owed    bool // a sync by another handle has failed, and this one was not told yet
}

// header lies in front of SQLite's own file object.
type header struct {
	methods uintptr
	id      uintptr
}

const headerSize = 16

// ErrOpen is what Close answers while a database is open through the VFS.
var ErrOpen = errors.New("crashfs: a file is still open")

// New registers a new VFS.
func New() (*Recorder, error) {
	r := &Recorder{
		name: "crashfs-" + rand.Text(),
		tls:  libc.NewTLS(),
		open: make(map[uintptr]*file),
		base: make(map[string][]byte),
		done: make(map[Op]int),
	}
	if rc := sqlite3.Xsqlite3_initialize(r.tls); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("crashfs: initialize: %d", rc)
	}
	if r.real = sqlite3.Xsqlite3_vfs_find(r.tls, 0); r.real == 0 {
		return nil, errors.New("crashfs: no default VFS")
	}
	var err error
	if r.cname, err = libc.CString(r.name); err != nil {
		return nil, fmt.Errorf("crashfs: %w", err)
	}
	r.io = libc.Xcalloc(r.tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	r.vfs = libc.Xcalloc(r.tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if r.io == 0 || r.vfs == 0 {
		return nil, errors.New("crashfs: out of memory")
	}
	r.fillMethods()
	v := at[sqlite3.Tsqlite3_vfs](r.vfs)
	*v = *at[sqlite3.Tsqlite3_vfs](r.real)
	v.FpNext = 0
	v.FszOsFile += headerSize
	v.FzName = r.cname
	v.FxOpen = cfunc(r, r.xOpen)
	v.FxDelete = cfunc(r, r.xDelete)
	if rc := sqlite3.Xsqlite3_vfs_register(r.tls, r.vfs, 0); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("crashfs: register: %d", rc)
	}
	return r, nil
}

// VFS is the name to open a store with.
func (r *Recorder) VFS() string { return r.name }

// Close unregisters the VFS; the record stays readable. Every database opened through it must be closed before.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) > 0 {
		return ErrOpen
	}
	if r.vfs == 0 {
		return nil
	}
	rc := sqlite3.Xsqlite3_vfs_unregister(r.tls, r.vfs)
	for _, p := range []uintptr{r.vfs, r.io, r.cname} {
		libc.Xfree(r.tls, p)
	}
	r.vfs, r.keep = 0, nil
	r.tls.Close()
	if rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("crashfs: unregister: %d", rc)
	}
	return nil
}

// at is the Go view of C memory.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// cfunc is the C view of a Go function, which r keeps alive: C memory does not.
func cfunc[T any](r *Recorder, f T) uintptr {
	r.keep = append(r.keep, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

// gofunc is the Go view of a C function.
func gofunc[T any](p uintptr) T { return *(*T)(unsafe.Pointer(&p)) }

func inner(p uintptr) uintptr { return p + headerSize }

// methods of the real file behind p.
func methods(p uintptr) *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](at[sqlite3.Tsqlite3_file](inner(p)).FpMethods)
}

func (r *Recorder) lookup(p uintptr) *file { return r.open[at[header](p).id] }

func (r *Recorder) xOpen(tls *libc.TLS, vfs, name, p uintptr, flags int32, outFlags uintptr) int32 {
	*at[header](p) = header{}
	open := gofunc[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](r.real).FxOpen)
	f := &file{}
	if name != 0 {
		f.name = filepath.Base(libc.GoString(name))
		f.tracked = flags&(sqlite3.SQLITE_OPEN_MAIN_DB|sqlite3.SQLITE_OPEN_WAL|sqlite3.SQLITE_OPEN_MAIN_JOURNAL) != 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.tracked && r.due(Open, f.name) != OK {
		return sqlite3.SQLITE_CANTOPEN
	}
	if rc := open(tls, vfs, name, inner(p), flags, outFlags); rc != sqlite3.SQLITE_OK {
		return rc
	}
	r.nextID++
	*at[header](p) = header{methods: r.io, id: r.nextID}
	r.open[r.nextID] = f
	if f.tracked {
		r.opened(tls, f, p)
	}
	return sqlite3.SQLITE_OK
}

// opened notes what a file holds that the record did not see being written.
func (r *Recorder) opened(tls *libc.TLS, f *file, p uintptr) {
	if r.exists(f.name) {
		return
	}
	if _, before := r.base[f.name]; before || len(r.log) > 0 {
		r.log = append(r.log, event{op: create, file: f.name})
		return
	}
	// Reading through the handle, never by another descriptor: closing that one would drop SQLite's locks.
	var size int64
	gofunc[func(*libc.TLS, uintptr, *int64) int32](methods(p).FxFileSize)(tls, inner(p), &size)
	content := make([]byte, size)
	if size > 0 {
		buf := libc.Xmalloc(tls, libc.Tsize_t(size))
		defer libc.Xfree(tls, buf)
		gofunc[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methods(p).FxRead)(tls, inner(p), buf, int32(size), 0)
		copy(content, unsafe.Slice(at[byte](buf), size))
	}
	if strings.HasSuffix(f.name, "-wal") && size == 0 {
		r.log = append(r.log, event{op: create, file: f.name})
		return
	}
	r.base[f.name] = content
}

func (r *Recorder) exists(name string) bool {
	_, there := r.base[name]
	for _, e := range r.log {
		if e.file == name {
			switch e.op {
			case create, Write:
				there = true
			case remove:
				there = false
			}
		}
	}
	return there
}

func (r *Recorder) xDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	del := gofunc[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](r.real).FxDelete)
	r.mu.Lock()
	defer r.mu.Unlock()
	rc := del(tls, vfs, name, syncDir)
	if base := filepath.Base(libc.GoString(name)); rc == sqlite3.SQLITE_OK && !strings.HasSuffix(base, "-shm") {
		r.log = append(r.log, event{op: remove, file: base, durable: syncDir != 0})
	}
	return rc
}

func (r *Recorder) fillMethods() {
	m := at[sqlite3.Tsqlite3_io_methods](r.io)
	m.FiVersion = 3
	m.FxClose = cfunc(r, func(tls *libc.TLS, p uintptr) int32 {
		r.mu.Lock()
		delete(r.open, at[header](p).id)
		r.mu.Unlock()
		return gofunc[func(*libc.TLS, uintptr) int32](methods(p).FxClose)(tls, inner(p))
	})
	m.FxRead = cfunc(r, func(tls *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
		return gofunc[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methods(p).FxRead)(tls, inner(p), buf, n, off)
	})
	m.FxWrite = cfunc(r, r.xWrite)
	m.FxTruncate = cfunc(r, r.xTruncate)
	m.FxSync = cfunc(r, r.xSync)
	m.FxFileSize = cfunc(r, func(tls *libc.TLS, p, size uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, uintptr) int32](methods(p).FxFileSize)(tls, inner(p), size)
	})
	m.FxLock = cfunc(r, func(tls *libc.TLS, p uintptr, level int32) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32) int32](methods(p).FxLock)(tls, inner(p), level)
	})
	m.FxUnlock = cfunc(r, func(tls *libc.TLS, p uintptr, level int32) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32) int32](methods(p).FxUnlock)(tls, inner(p), level)
	})
	m.FxCheckReservedLock = cfunc(r, func(tls *libc.TLS, p, out uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, uintptr) int32](methods(p).FxCheckReservedLock)(tls, inner(p), out)
	})
	m.FxFileControl = cfunc(r, func(tls *libc.TLS, p uintptr, op int32, arg uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32, uintptr) int32](methods(p).FxFileControl)(tls, inner(p), op, arg)
	})
	m.FxSectorSize = cfunc(r, func(tls *libc.TLS, p uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr) int32](methods(p).FxSectorSize)(tls, inner(p))
	})
	m.FxDeviceCharacteristics = cfunc(r, func(tls *libc.TLS, p uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr) int32](methods(p).FxDeviceCharacteristics)(tls, inner(p))
	})
	m.FxShmMap = cfunc(r, func(tls *libc.TLS, p uintptr, page, size, extend int32, out uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](methods(p).FxShmMap)(tls, inner(p), page, size, extend, out)
	})
	m.FxShmLock = cfunc(r, func(tls *libc.TLS, p uintptr, off, n, flags int32) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32, int32, int32) int32](methods(p).FxShmLock)(tls, inner(p), off, n, flags)
	})
	m.FxShmBarrier = cfunc(r, func(tls *libc.TLS, p uintptr) {
		gofunc[func(*libc.TLS, uintptr)](methods(p).FxShmBarrier)(tls, inner(p))
	})
	m.FxShmUnmap = cfunc(r, func(tls *libc.TLS, p uintptr, del int32) int32 {
		return gofunc[func(*libc.TLS, uintptr, int32) int32](methods(p).FxShmUnmap)(tls, inner(p), del)
	})
	m.FxFetch = cfunc(r, func(tls *libc.TLS, p uintptr, off int64, n int32, out uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, int64, int32, uintptr) int32](methods(p).FxFetch)(tls, inner(p), off, n, out)
	})
	m.FxUnfetch = cfunc(r, func(tls *libc.TLS, p uintptr, off int64, mem uintptr) int32 {
		return gofunc[func(*libc.TLS, uintptr, int64, uintptr) int32](methods(p).FxUnfetch)(tls, inner(p), off, mem)
	})
}

func (r *Recorder) xWrite(tls *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	write := gofunc[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methods(p).FxWrite)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.lookup(p)
	if f.tracked {
		if e := r.due(Write, f.name); e != OK {
			// A full disk takes the first part of a write.
			if half := n / 2; e == ENOSPC && half > 0 {
				r.logWrite(f, buf, half, off)
				write(tls, inner(p), buf, half, off)
			}
			return e.writeCode()
		}
	}
	rc := write(tls, inner(p), buf, n, off)
	if rc == sqlite3.SQLITE_OK && f.tracked {
		r.logWrite(f, buf, n, off)
	}
	return rc
}

func (r *Recorder) logWrite(f *file, buf uintptr, n int32, off int64) {
	data := make([]byte, n)
	copy(data, unsafe.Slice(at[byte](buf), n))
	r.log = append(r.log, event{op: Write, file: f.name, off: off, data: data})
}

func (r *Recorder) xTruncate(tls *libc.TLS, p uintptr, size int64) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.lookup(p)
	rc := gofunc[func(*libc.TLS, uintptr, int64) int32](methods(p).FxTruncate)(tls, inner(p), size)
	if rc == sqlite3.SQLITE_OK && f.tracked {
		r.log = append(r.log, event{op: truncate, file: f.name, off: size})
	}
	return rc
}

// xSync makes durable what was written before it began; what is written while it runs may be or not.
func (r *Recorder) xSync(tls *libc.TLS, p uintptr, flags int32) int32 {
	r.mu.Lock()
	f := r.lookup(p)
	upTo := len(r.log)
	if f.tracked && r.due(Sync, f.name) != OK {
		// As Linux does: every descriptor that was open hears of the failure, once.
		for _, other := range r.open {
			other.owed = other.owed || other.name == f.name
		}
		r.log = append(r.log, event{op: dropped, file: f.name, off: int64(upTo)})
	}
	r.mu.Unlock()
	rc := gofunc[func(*libc.TLS, uintptr, int32) int32](methods(p).FxSync)(tls, inner(p), flags)
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.owed {
		f.owed = false
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	if rc == sqlite3.SQLITE_OK && f.tracked {
		r.log = append(r.log, event{op: Sync, file: f.name, off: int64(upTo)})
	}
	return rc
}
