package mailtm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// download responds with the raw message. It sends one chunk after the other, so that it needs the same memory for a
// message of any size. Error: message.raw_expired, after the retention.
func (a *API) download(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	content, first, err := a.openRaw(r, box, func(content *message.Raw) int64 { return content.Memory() })
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("Content-Security-Policy", httpkit.Sandbox)
	h.Set("Content-Length", strconv.FormatInt(content.Size(), 10))
	for chunk := first; ; {
		if _, err := w.Write(chunk); err != nil { //nolint:gosec // message/rfc822 in a sandbox, which no browser renders
			return nil //nolint:nilerr // the client has disconnected, so there is no use in responding with an error
		}
		if chunk, err = content.Next(r.Context()); errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client notices that the body is shorter than Content-Length
		}
	}
}

// openRaw opens the raw message that the path names and reads its first chunk. memory returns how many octets of memory to
// reserve for it. The first chunk is read here so that most errors occur before the response begins.
func (a *API) openRaw(r *http.Request, box *mailbox.Mailbox, memory func(*message.Raw) int64) (content *message.Raw, first []byte, err error) {
	m, err := parseMessageID(r)
	if err != nil {
		return nil, nil, err
	}
	if content, err = a.Messages.Raw(r.Context(), box.ID, m); err != nil {
		return nil, nil, err
	}
	if err := a.kit.Reserve(r.Context(), budget.Response, memory(content)); err != nil {
		return nil, nil, err
	}
	if first, err = content.Next(r.Context()); errors.Is(err, io.EOF) {
		err = nil
	}
	return content, first, err
}

// sourceResource is a raw message as a resource. Data is the whole message.
type sourceResource struct {
	jsonLD
	ID          string `json:"id"`
	DownloadURL string `json:"downloadUrl"`
	Data        string `json:"data"`
}

// source responds with the raw message in JSON, which it writes piece by piece, so that it needs the same memory for a message
// of any size. Error: message.raw_expired, after the retention.
func (a *API) source(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	content, chunk, err := a.openRaw(r, box, func(content *message.Raw) int64 { return content.Memory() + sourceOctets })
	if err != nil {
		return err
	}
	messageID := r.PathValue("id")
	frame, err := json.Marshal(sourceResource{
		jsonLD: newJSONLD(r, "Source", "/sources/"+messageID, true), ID: messageID, DownloadURL: "/messages/" + messageID + "/download",
	})
	if err != nil {
		return err
	}
	begin, ok := bytes.CutSuffix(frame, []byte(`""}`)) // the member data is the last one
	if !ok {
		return fmt.Errorf("the source %s does not end with its data", frame)
	}
	w.Header().Set("Content-Type", mediaType(r))
	w.Header().Set("Cache-Control", "no-store")
	out := bufio.NewWriter(w)
	_, _ = out.Write(begin) // Flush returns the error, as of the other calls
	text := httpkit.NewJSONText(out)
	text.Begin()
	for err == nil {
		if _, err = text.Write(chunk); err == nil {
			chunk, err = content.Next(r.Context())
		}
	}
	if !errors.Is(err, io.EOF) {
		panic(http.ErrAbortHandler) // the client notices that the body has no end
	}
	_ = text.End()
	_, _ = out.WriteString("}")
	_ = out.Flush() // fails only if the client has disconnected
	return nil
}

// attachment responds with the content of an attachment. An attachment whose content type is not valid is sent as
// application/octet-stream. Error: attachment.not_found.
func (a *API) attachment(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	m, err := parseMessageID(r)
	if err != nil {
		return err
	}
	attachmentID, err := id.Parse[id.Attachment](r.PathValue("attachment"))
	if err != nil {
		return problem.New(problem.AttachmentNotFound)
	}
	if err := a.Messages.Reserve(r.Context(), box.ID, m, a.reserveReading(r.Context())); err != nil {
		return err
	}
	f, content, err := a.Messages.Attachment(r.Context(), box.ID, m, attachmentID)
	if err != nil {
		return err
	}
	held := int64(attachmentOctets)
	if _, whole := content.(*bytes.Reader); whole {
		held += f.Size
	}
	if err := a.kit.Keep(r.Context(), held); err != nil { // a slow client holds no more than what is sent to it
		return err
	}
	httpkit.WriteAttachment(w, f.ContentType, f.Filename, f.Size, content)
	return nil
}
