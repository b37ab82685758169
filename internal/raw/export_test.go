package raw

import (
	"log/slog"
	"os"

	"github.com/gonebox/gonebox/internal/clock"
)

// Faults lets a test replace operations of the system by errors or delays: each function, if set, is called before the operation.
type Faults struct {
	Create     func(file string) error
	Write      func(p []byte) (short int, err error) // on an error the first short bytes are written
	Datasync   func() error
	SyncFolder func() error
	NoDisk     bool // syncs do nothing, for tests with hundreds of them
}

// OpenFaulty is Open with faults, and with segments that are full at limit bytes.
func OpenFaulty(dir string, c clock.Clock, log *slog.Logger, f *Faults, limit int64) (*Segments, error) {
	return open(dir, c, log, faultyFolder{osFolder{dir}, f}, limit)
}

// BlockSize is the unit of writes.
const BlockSize = blockSize

// PartSize is how many octets a row of a table holds.
const PartSize = partSize

// HeaderSize is the number of octets that a record occupies in addition to its data, and the length of a trailer.
const HeaderSize = headerSize

// Parse parses a reference of segments and returns it again.
func (r Ref) Parse() (again Ref, err error) {
	p, err := r.parse()
	return p.ref(), err
}

type faultyFolder struct {
	folder
	f *Faults
}

type faultyFile struct {
	segmentFile
	f *Faults
}

func (d faultyFolder) create(file string) (segmentFile, error) {
	if d.f.Create != nil {
		if err := d.f.Create(file); err != nil {
			return nil, err
		}
	}
	f, err := d.folder.create(file)
	return faultyFile{f, d.f}, err
}

func (d faultyFolder) sync() error {
	if d.f.SyncFolder != nil {
		if err := d.f.SyncFolder(); err != nil {
			return err
		}
	}
	if d.f.NoDisk {
		return nil
	}
	return d.folder.sync()
}

func (d faultyFolder) datasync(f *os.File) error {
	if d.f.NoDisk {
		return nil
	}
	return d.folder.datasync(f)
}

func (f faultyFile) Write(p []byte) (int, error) {
	if f.f.Write != nil {
		if short, err := f.f.Write(p); err != nil {
			n, _ := f.segmentFile.Write(p[:short])
			return n, err
		}
	}
	return f.segmentFile.Write(p)
}

func (f faultyFile) datasync() error {
	if f.f.Datasync != nil {
		if err := f.f.Datasync(); err != nil {
			return err
		}
	}
	if f.f.NoDisk {
		return nil
	}
	return f.segmentFile.datasync()
}
