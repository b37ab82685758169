package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/problem"
)

// MessagePart is a part of a message as the sender has put it together (docs/spec/messages.md#parts).
type MessagePart struct {
	ID               string        `json:"id" doc:"0 for the message itself; the parts of a part count from 1, behind its id and a dot." example:"1.2"`
	ContentType      string        `json:"contentType" doc:"As declared by the sender; text/plain, or message/rfc822 in a digest, if nothing was." example:"text/html"`
	Charset          string        `json:"charset" doc:"As declared; empty if nothing was." example:"utf-8"`
	Disposition      string        `json:"disposition" doc:"inline, attachment or another declared one; empty if none was." example:"inline"`
	Filename         string        `json:"filename" doc:"Without directories; empty if the sender gave none."`
	ContentID        string        `json:"contentId" doc:"What a cid: address in the HTML names; empty if there is none."`
	TransferEncoding string        `json:"transferEncoding" doc:"Empty if none was declared." example:"quoted-printable"`
	Size             int           `json:"size" doc:"The octets of the content, decoded." example:"2048"`
	Parts            []MessagePart `json:"parts" doc:"The parts of a multipart, or the message in a message/rfc822 part; at most 1,000 in all, 32 deep." example:"[]"`
}

// rootPart is the id of the part that is the message itself.
const rootPart = "0"

// newMessagePart returns the JSON form of a part. prefix begins the ids of its parts.
func newMessagePart(id, prefix string, p *mailparse.Part) MessagePart {
	part := MessagePart{
		ID: id, ContentType: p.ContentType, Charset: p.Charset, Disposition: p.Disposition, Filename: p.Filename, ContentID: p.ContentID,
		TransferEncoding: p.Encoding, Size: p.Size, Parts: make([]MessagePart, len(p.Parts)),
	}
	for i := range p.Parts {
		child := prefix + strconv.Itoa(i+1)
		part.Parts[i] = newMessagePart(child, child+".", &p.Parts[i])
	}
	return part
}

// findPart returns the part with an id, nil if there is none.
func findPart(p *mailparse.Part, id string) *mailparse.Part {
	if id == rootPart {
		return p
	}
	for number := range strings.SplitSeq(id, ".") {
		i, err := strconv.Atoi(number)
		if err != nil || i < 1 || i > len(p.Parts) || strconv.Itoa(i) != number {
			return nil
		}
		p = &p.Parts[i-1]
	}
	return p
}

// partsText describes the operations on parts.
const partsText = "Reads the raw message, so it is 410 after its retention. The message is not marked as seen. "

// messageParts registers the operations on the parts of a message. with returns an operation below one message.
func (a *API) messageParts(group string, with func(method, id, path, summary string, status int, scope apikey.Scope, codes ...problem.Code) httpkit.Operation) {
	list := with(http.MethodGet, "get-message-parts", "/parts", "Read the MIME structure of a message", 200, apikey.MessagesRead, problem.MessageRawExpired)
	list.Text = partsText + list.Text
	register(a, group, list, a.getParts)
	one := with(http.MethodGet, "get-message-part", "/parts/{partId}", "Download the content of a part", 200, apikey.MessagesRead, problem.MessageRawExpired, problem.AttachmentNotFound)
	one.Media = "application/octet-stream"
	one.Text = "Decoded, as application/octet-stream whatever type the sender declared; of a multipart, the octets between its header and its end. " + partsText + one.Text
	register(a, group, one, a.getPart)
}

// structureCost is how many times its octets reading the structure of a message takes: it, and twice what is decoded of it.
const structureCost = 3

// structureOf reads the structure of a message.
func (a *API) structureOf(ctx context.Context, path MessagePath) (*mailparse.Part, error) {
	box, m, err := a.locate(ctx, path)
	if err != nil {
		return nil, err
	}
	raw, err := a.Messages.Raw(ctx, box, m)
	if err != nil {
		return nil, err
	}
	if err := a.kit.Reserve(ctx, budget.Response, raw.Memory()+structureCost*max(raw.Size(), raw.Memory())); err != nil {
		return nil, err
	}
	octets, err := raw.ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	root := mailparse.Structure(octets)
	return &root, nil
}

func (a *API) getParts(ctx context.Context, in *MessagePath) (*httpkit.One[MessagePart], error) {
	root, err := a.structureOf(ctx, *in)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(newMessagePart(rootPart, "", root)), nil
}

func (a *API) getPart(ctx context.Context, in *struct {
	MessagePath
	PartID string `path:"partId" doc:"The part's id."`
},
) (*httpkit.Download, error) {
	root, err := a.structureOf(ctx, in.MessagePath)
	if err != nil {
		return nil, err
	}
	part := findPart(root, in.PartID)
	if part == nil {
		return nil, problem.New(problem.AttachmentNotFound)
	}
	data := bytes.Clone(part.Data(nil)) // the raw message need not stay in memory while a slow client reads
	if err := a.kit.Keep(ctx, int64(len(data))+httpkit.ChunkSize); err != nil {
		return nil, err
	}
	next := httpkit.Chunks(bytes.NewReader(data))
	first, err := next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return httpkit.NewDownload("application/octet-stream", part.SafeFilename(), a.kit.Send(int64(len(data)), first, next)), nil
}
