package httpkit

import (
	"encoding/json"
	"io"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/resource"
)

// EncodedList is a List[T] whose items are JSON already, as they are stored. It is documented as List[T].
type EncodedList[T any] struct {
	AppendItem func(b []byte, item int) []byte // appends the JSON of an item
	Items      int
	Octets     int // of all items, or a little more
	NextCursor string
}

// EncodedMany is a response with an EncodedList.
type EncodedMany[T any] struct{ Body EncodedList[T] }

// Schema returns the schema of List[T].
func (EncodedList[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[List[T]](), true, "")
}

// listFrame is how many octets a list has beside its items: the names of its fields, and a cursor.
const listFrame = 128

func (l EncodedList[T]) size() int { return listFrame + l.Octets + l.Items }

func (l EncodedList[T]) appendJSON(b []byte) []byte { return append(l.appendMembers(b), "}\n"...) }

// appendMembers appends the list without its end.
func (l EncodedList[T]) appendMembers(b []byte) []byte {
	b = append(b, `{"data":[`...)
	for i := range l.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.AppendItem(b, i)
	}
	b = append(b, `],"nextCursor":`...)
	if l.NextCursor == "" {
		return append(b, "null"...)
	}
	cursor, _ := json.Marshal(l.NextCursor) // never fails for a string
	return append(b, cursor...)
}

// WaitedList is a List[T] for which the client may have waited.
type WaitedList[T any] struct {
	List[T]
	Diagnosis *resource.Diagnosis `json:"diagnosis,omitempty" doc:"Why a wait found nothing. It is absent unless the client waited and the list is empty."`
}

// EncodedWait is a response with an EncodedList for which the client may have waited. It is documented as WaitedList[T].
type EncodedWait[T any] struct{ Body EncodedWaited[T] }

// EncodedWaited is a WaitedList[T] whose items are JSON already.
type EncodedWaited[T any] struct {
	EncodedList[T]
	Diagnosis *resource.Diagnosis // nil: the list has items, or the client did not wait
}

// Schema returns the schema of WaitedList[T].
func (EncodedWaited[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[WaitedList[T]](), true, "")
}

func (l EncodedWaited[T]) appendJSON(b []byte) []byte {
	b = l.appendMembers(b)
	if l.Diagnosis != nil {
		text, _ := json.Marshal(l.Diagnosis) // never fails: it consists of texts and times
		b = append(append(b, `,"diagnosis":`...), text...)
	}
	return append(b, "}\n"...)
}

// EncodedData is a Data[T] that is JSON already. It is documented as Data[T].
type EncodedData[T any] struct{ JSON string }

// EncodedOne is a response with EncodedData.
type EncodedOne[T any] struct{ Body EncodedData[T] }

// SingleEncoded wraps the JSON of a T.
func SingleEncoded[T any](text string) *EncodedOne[T] {
	return &EncodedOne[T]{Body: EncodedData[T]{JSON: text}}
}

// Schema returns the schema of Data[T].
func (EncodedData[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Data[T]](), true, "")
}

func (d EncodedData[T]) size() int { return listFrame + len(d.JSON) }

func (d EncodedData[T]) appendJSON(b []byte) []byte {
	return append(append(append(b, `{"data":`...), d.JSON...), "}\n"...)
}

// encoded is a body that encodes itself.
type encoded interface {
	size() int
	appendJSON(b []byte) []byte
}

// writeJSON writes a body as JSON. It replaces the library's function, which encodes items again that are JSON already.
func writeJSON(w io.Writer, body any) error {
	e, ok := body.(encoded)
	if !ok {
		return huma.DefaultJSONFormat.Marshal(w, body)
	}
	b := buffer.Get(e.size())
	defer buffer.Put(b)
	*b = e.appendJSON(*b)
	if r, ok := w.(*recorder); ok {
		r.writeWhole()
	}
	_, err := w.Write(*b)
	return err
}
