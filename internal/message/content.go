package message

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
)

// The bounds that decide which content of a mail is stored in the rows of each recipient, and which in a blob that the rows refer to
// (docs/decisions/0038). Sizes are octets before compression.
const (
	// blobFrom is the size of an attachment, or of the detail, from which on it is a blob however few share it.
	blobFrom = 128 << 10
	// shareFrom and shareRows are how many octets, and rows of attachments, the recipients of a mail must save together for its
	// detail and its small attachments to become a blob: two short rows cost less than a blob.
	shareFrom = 16 << 10
	shareRows = 32
	// stageFrom is the size of a mail from which on its blobs are stored before its rows, in transactions of their own.
	stageFrom = 1 << 20
)

// cell is the columns of a row for one content: the content itself, or the key of its blob.
type cell struct {
	data []byte // empty where there is a key
	crc  int64  // of data
	key  []byte // nil: none
}

func inline(data []byte) cell     { return cell{data: data, crc: blob.Checksum(data)} }
func reference(key blob.Key) cell { return cell{data: []byte{}, crc: blob.Checksum(nil), key: key[:]} }

// file is a row of an attachment.
type file struct {
	id id.Attachment
	cell
}

// pack prepares the detail and the files. It appends to buf and returns the extended slice.
func (d *Draft) pack(buf []byte, more *detail, files []File, copies int) []byte {
	const headerSize = 8 << 10 // of most mails
	scratch := buffer.Get(len(more.Text) + len(more.HTML) + headerSize)
	defer buffer.Put(scratch)
	p := more.plain(*scratch)
	*scratch = p
	var small []int // the files that are stored together with the detail
	octets := len(p)
	for i, f := range files {
		if f.Available && len(f.Data) < blobFrom {
			small, octets = append(small, i), octets+len(f.Data)
		}
	}
	together := len(p) >= blobFrom || octets >= stageFrom ||
		copies > 1 && ((copies-1)*octets >= shareFrom || copies*len(small) >= shareRows)
	if together {
		content := bodyOf(p, small, files)
		key := blob.KeyOf(content)
		d.body, buf = reference(key), d.blob(buf, blob.Content{Key: key, Data: content})
	} else {
		begin := len(buf)
		buf = raw.Compress(buf, p)
		d.body = inline(buf[begin:])
	}
	for _, f := range files {
		switch {
		case !f.Available:
		case len(f.Data) >= blobFrom:
			key := f.key()
			d.files, buf = append(d.files, file{f.ID, reference(key)}), d.blob(buf, blob.Content{Key: key, Data: f.Data})
		case !together:
			begin := len(buf)
			buf = raw.Compress(buf, f.Data)
			d.files = append(d.files, file{f.ID, inline(buf[begin:])})
		}
	}
	return buf
}

// rawFile is the row of attachments that has the raw message, where it is stored with the rows. No attachment has that identifier.
const rawFile id.Attachment = "raw"

// packRaw prepares the raw message, as a file that the detail does not list.
func (d *Draft) packRaw(buf, record []byte) []byte {
	if len(record) >= blobFrom {
		key := blob.KeyOf(record)
		d.files = append(d.files, file{rawFile, reference(key)})
		return d.blob(buf, blob.Content{Key: key, Data: record})
	}
	begin := len(buf)
	buf = raw.Compress(buf, record)
	d.files = append(d.files, file{rawFile, inline(buf[begin:])})
	return buf
}

// blob packs content as a blob that is stored with the rows. The content of a large draft is left to Stage instead.
func (d *Draft) blob(buf []byte, c blob.Content) []byte {
	if d.Large() {
		d.pending = append(d.pending, c)
		return buf
	}
	b, buf := blob.Pack(buf, c)
	d.blobs = append(d.blobs, b)
	return buf
}

// key returns the SHA-256 of the content: SHA256 if that is set, so that it is not computed twice.
func (f *File) key() (key blob.Key) {
	if n, err := hex.Decode(key[:], []byte(f.SHA256)); err != nil || n != len(key) {
		return blob.KeyOf(f.Data)
	}
	return key
}

// Large reports whether a draft must be staged before its copies are stored.
func (d *Draft) Large() bool { return d.size >= stageFrom }

// Octets is about how many octets it takes to store so many copies of a draft, without what is staged.
func (d *Draft) Octets(copies int) int {
	const row = 1 << 10 // a summary with its keys
	each, once := row+len(d.body.data), 0
	for _, f := range d.files {
		each += row/4 + len(f.data)
	}
	for _, b := range d.blobs {
		once += b.Octets()
	}
	return copies*each + once
}

// A body is a detail with small files behind it, as one content: a version, the length of the detail, how many files there are
// and which of the attachments each is, as unsigned LEB128; then the detail, not compressed, and the files.
const bodyVersion = 1

// bodyOf joins an encoded detail with some of the files. The result is a copy.
func bodyOf(plain []byte, small []int, files []File) []byte {
	p := binary.AppendUvarint([]byte{bodyVersion}, uint64(len(plain)))
	p = binary.AppendUvarint(p, uint64(len(small)))
	octets := len(plain)
	for _, i := range small {
		p = binary.AppendUvarint(p, uint64(i))
		octets += len(files[i].Data)
	}
	content := append(make([]byte, 0, len(p)+octets), p...)
	content = append(content, plain...)
	for _, i := range small {
		content = append(content, files[i].Data...)
	}
	return content
}

// bodyHead is the parsed beginning of a body.
type bodyHead struct {
	detail int64 // where it begins
	length int64 // of the detail
	files  []int // of the attachments, those that are behind the detail, in order
}

// parseBodyHead reads the beginning of a body.
func parseBodyHead(begin []byte) (h bodyHead, err error) {
	if len(begin) == 0 || begin[0] != bodyVersion {
		return h, errDetail
	}
	rest, broken := begin[1:], false
	number := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			rest, broken = nil, true
			return 0
		}
		rest = rest[n:]
		return v
	}
	h.length = int64(number())
	count := number()
	for ; count > 0 && !broken; count-- {
		h.files = append(h.files, int(number()))
	}
	h.detail = int64(len(begin) - len(rest))
	if broken || h.length < 0 || h.length > raw.MaxSize {
		return h, errDetail
	}
	return h, nil
}

// find returns the index of an attachment among the files of the body, or -1 if it is not stored there.
func (h bodyHead) find(index int, attachments []Attachment) int64 {
	at := h.detail + h.length
	for _, i := range h.files {
		switch {
		case i == index:
			return at
		case i < 0 || i >= len(attachments):
			return -1
		}
		at += attachments[i].Size
	}
	return -1
}
