package db

import (
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// gatheringVFS is the name of SQLite's layer for files with which the writer writes its log.
//
// SQLite writes a commit to the log page by page, with two system calls for each, and then syncs the log. This layer gathers what
// adjoins and writes it at once, at the latest before the sync. Others do not read a commit before its sync. A connection that commits
// without one must not use this layer (docs/decisions/0086).
const gatheringVFS = "gathering"

// gatherMost is how many octets are gathered: as many frames as the layer below writes at once, which is less than 128 KiB.
const gatherMost = 31 * frameSize

// gatheringFile is a file of the layer. It is behind the file of the layer below, in memory that SQLite allocates.
type gatheringFile struct {
	methods sqlite3.Tsqlite3_io_methods
	below   uintptr // the methods of the layer below
	buf     uintptr // what is gathered; 0 before the first write
	at      int64   // its offset in the file
	n       int32   // its length
}

// The methods of SQLite's files that the layer has itself (https://sqlite.org/c3ref/io_methods.html).
type (
	openFile  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	closeFile = func(tls *libc.TLS, file uintptr) int32
	copyFile  = func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 // to read and to write
	cutFile   = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFile  = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeFile  = func(tls *libc.TLS, file, size uintptr) int32
)

// value returns what is at an address that SQLite allocated.
func value[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) } //nolint:gosec // the memory is not Go's

// pointer returns a function that is no closure as SQLite calls it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) } //nolint:gosec // as modernc.org/sqlite does

// function is the opposite of pointer.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) } //nolint:gosec // as modernc.org/sqlite does

// gatheringParameter registers the layer, unless that is done already, and returns the parameter of a DSN that chooses it.
func gatheringParameter() (string, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString(gatheringVFS) // SQLite keeps it
	if err != nil {
		return "", err
	}
	const parameter = "&vfs=" + gatheringVFS
	if sqlite3.Xsqlite3_vfs_find(tls, name) != 0 {
		libc.Xfree(tls, name)
		return parameter, nil
	}
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	layer := sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if base == 0 || layer == 0 {
		return "", errors.New("SQLite has no layer for files, or no memory for another")
	}
	vfs := value[sqlite3.Tsqlite3_vfs](layer)
	*vfs = *value[sqlite3.Tsqlite3_vfs](base)
	vfs.FpNext, vfs.FzName, vfs.FpAppData = 0, name, base
	vfs.FszOsFile = int32(gatheringOffset(base) + unsafe.Sizeof(gatheringFile{}))
	vfs.FxOpen = pointer[openFile](openGathering)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, layer, 0); rc != sqlite3.SQLITE_OK {
		return "", fmt.Errorf("register a layer for files: SQLite's code %d", rc)
	}
	return parameter, nil
}

// gatheringOffset returns how far behind the beginning of a file the gatheringFile is.
func gatheringOffset(base uintptr) uintptr {
	const align = 16
	return (uintptr(value[sqlite3.Tsqlite3_vfs](base).FszOsFile) + align - 1) &^ (align - 1)
}

// openGathering opens a file. Only a log gathers what is written.
func openGathering(tls *libc.TLS, layer, name, file uintptr, flags int32, outFlags uintptr) int32 {
	base := value[sqlite3.Tsqlite3_vfs](layer).FpAppData
	rc := function[openFile](value[sqlite3.Tsqlite3_vfs](base).FxOpen)(tls, base, name, file, flags, outFlags)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return rc
	}
	opened := value[sqlite3.Tsqlite3_file](file)
	address := file + gatheringOffset(base)
	g := value[gatheringFile](address)
	*g = gatheringFile{methods: *value[sqlite3.Tsqlite3_io_methods](opened.FpMethods), below: opened.FpMethods}
	g.methods.FxClose = pointer[closeFile](closeGathering)
	g.methods.FxRead = pointer[copyFile](readGathering)
	g.methods.FxWrite = pointer[copyFile](writeGathering)
	g.methods.FxTruncate = pointer[cutFile](cutGathering)
	g.methods.FxSync = pointer[syncFile](syncGathering)
	g.methods.FxFileSize = pointer[sizeFile](sizeGathering)
	opened.FpMethods = address // where methods is
	return rc
}

// gathered returns the gatheringFile of a log, and the methods of the layer below.
func gathered(file uintptr) (*gatheringFile, *sqlite3.Tsqlite3_io_methods) {
	g := value[gatheringFile](value[sqlite3.Tsqlite3_file](file).FpMethods)
	return g, value[sqlite3.Tsqlite3_io_methods](g.below)
}

// flush writes what is gathered. If that fails, so does the commit, and the next one writes at the same offset.
func flush(tls *libc.TLS, file uintptr) int32 {
	g, below := gathered(file)
	if g.n == 0 {
		return sqlite3.SQLITE_OK
	}
	n := g.n
	g.n = 0
	return function[copyFile](below.FxWrite)(tls, file, g.buf, n, g.at)
}

func writeGathering(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	g, below := gathered(file)
	if g.n > 0 && (offset != g.at+int64(g.n) || g.n+n > gatherMost) {
		if rc := flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if g.buf == 0 {
		g.buf = sqlite3.Xsqlite3_malloc(tls, gatherMost)
	}
	if g.buf == 0 || n > gatherMost {
		return function[copyFile](below.FxWrite)(tls, file, buf, n, offset)
	}
	if g.n == 0 {
		g.at = offset
	}
	copy(unsafe.Slice(value[byte](g.buf+uintptr(g.n)), n), unsafe.Slice(value[byte](buf), n)) //nolint:gosec // SQLite's memory
	g.n += n
	return sqlite3.SQLITE_OK
}

func readGathering(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	g, below := gathered(file)
	if offset < g.at+int64(g.n) && g.at < offset+int64(n) {
		if rc := flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return function[copyFile](below.FxRead)(tls, file, buf, n, offset)
}

func syncGathering(tls *libc.TLS, file uintptr, flags int32) int32 {
	_, below := gathered(file)
	if rc := flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[syncFile](below.FxSync)(tls, file, flags)
}

func cutGathering(tls *libc.TLS, file uintptr, size int64) int32 {
	_, below := gathered(file)
	if rc := flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[cutFile](below.FxTruncate)(tls, file, size)
}

func sizeGathering(tls *libc.TLS, file, size uintptr) int32 {
	_, below := gathered(file)
	if rc := flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[sizeFile](below.FxFileSize)(tls, file, size)
}

func closeGathering(tls *libc.TLS, file uintptr) int32 {
	g, below := gathered(file)
	rc := flush(tls, file)
	sqlite3.Xsqlite3_free(tls, g.buf)
	g.buf = 0
	if closed := function[closeFile](below.FxClose)(tls, file); rc == sqlite3.SQLITE_OK {
		rc = closed
	}
	return rc
}
