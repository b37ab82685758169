package catchall

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/gonebox/gonebox/internal/clock"
)

// connection is a connection to the server with the folder selected. Its methods return an error if the server does not answer in time;
// then it is of no further use.
type connection struct {
	client   *imapclient.Client
	raw      *watchedConn
	server   netip.Addr
	validity uint32        // UIDVALIDITY of the folder, with which UIDs are unique
	news     chan struct{} // receives when the server reports new messages; capacity 1
}

// connect connects, signs in and selects the folder.
func (r *Reader) connect(ctx context.Context) (*connection, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"imaps": "993", "imap": "143"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	dialed, err := r.dial(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	c := &connection{raw: watch(dialed), news: make(chan struct{}, 1)}
	if at, ok := dialed.RemoteAddr().(*net.TCPAddr); ok {
		c.server = at.AddrPort().Addr().Unmap().WithZone("")
	}
	var conn net.Conn = c.raw
	if u.Scheme == "imaps" {
		secure := tls.Client(c.raw, &tls.Config{ServerName: host, NextProtos: []string{"imap"}})
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = c.raw.Close() // the error of the handshake says more
			return nil, fmt.Errorf("TLS with %s: %w", host, err)
		}
		conn = secure
	}
	c.client = imapclient.New(conn, &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				c.notify()
			}
		},
	}})
	if err := c.within(answerIn, answerMost, func() error { return r.open(c) }); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// open signs in and selects the folder. It creates the folder for what is done with.
func (r *Reader) open(c *connection) error {
	if err := c.client.WaitGreeting(); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	if err := c.client.Login(r.User, r.Password).Wait(); err != nil {
		return fmt.Errorf("sign in as %s: %w", r.User, err)
	}
	if r.MoveTo != "" {
		_ = c.client.Create(r.MoveTo, nil).Wait() // fails if the folder exists; if it could not be created, moving fails
	}
	selected, err := c.client.Select(r.Folder, nil).Wait()
	if err != nil {
		return fmt.Errorf("select the folder %s: %w", r.Folder, err)
	}
	c.validity = selected.UIDValidity
	return nil
}

// notify records that there may be new messages.
func (c *connection) notify() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// close closes the connection.
func (c *connection) close() { _ = c.client.Close() } // what was stored is stored

// within runs a command, and closes the connection if the server sends nothing for as long as silence, or more than most octets, or after
// commandMost.
func (c *connection) within(silence time.Duration, most int64, command func() error) error {
	done := make(chan struct{})
	defer close(done)
	defer c.raw.allow(most)()
	go c.raw.closeWhenSilent(silence, commandMost, done)
	return command()
}

// search returns the messages of the folder, of very many the first ones. Those marked as deleted are among them: a process may have been
// killed between marking and deleting.
func (c *connection) search() (uids []imap.UID, err error) {
	err = c.within(answerIn, searchMost, func() error {
		uids, err = c.find(&imap.SearchCriteria{})
		return err
	})
	return uids, err
}

// find returns the messages that meet criteria, of very many the first ones.
func (c *connection) find(criteria *imap.SearchCriteria) (uids []imap.UID, err error) {
	data, err := c.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, err
	}
	set, _ := data.All.(imap.UIDSet) // nil: there are none
	for _, r := range set {
		if r.Start == 0 || r.Stop < r.Start { // "*", which an answer cannot have
			return nil, fmt.Errorf("the server found the messages %q, which are none", set.String())
		}
		for uid := r.Start; len(uids) < messagesMost; uid++ { // a short answer may have a range of four billion
			if uids = append(uids, uid); uid == r.Stop {
				break
			}
		}
	}
	return uids, nil
}

// size returns the size of a message, -1 if it is gone.
func (c *connection) size(uid imap.UID) (size int64, err error) {
	size = -1
	err = c.within(answerIn, answerMost, func() error {
		all, err := c.client.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{RFC822Size: true, UID: true}).Collect()
		for _, m := range all {
			if m.UID == uid {
				size = m.RFC822Size
			}
		}
		return err
	})
	return size, err
}

// fetch returns the content of a message of a size, nil if it is gone. It does not mark it as read.
func (c *connection) fetch(uid imap.UID, size int64) (data []byte, err error) {
	err = c.within(answerIn, answerMost+size+size/8, func() error { // an eighth for the records of TLS
		command := c.client.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{{Peek: true}}})
		defer command.Close()
		for m := command.Next(); m != nil; m = command.Next() {
			for item := m.Next(); item != nil; item = m.Next() {
				body, ok := item.(imapclient.FetchItemDataBodySection)
				if !ok || body.Literal == nil {
					continue
				}
				whole := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
				if _, err := whole.ReadFrom(io.LimitReader(body.Literal, size+1)); err != nil {
					return err
				}
				if data = whole.Bytes(); int64(len(data)) > size {
					_ = c.raw.Close() // command.Close would read the rest
					return fmt.Errorf("message %d has more octets than the server says", uid)
				}
			}
		}
		return command.Close()
	})
	return data, err
}

// finish deletes messages, or moves them to a folder.
func (c *connection) finish(uids []imap.UID, moveTo string) error {
	set := imap.UIDSetNum(uids...)
	return c.within(finishIn, searchMost, func() error {
		switch {
		case moveTo == "":
		case c.client.Caps().Has(imap.CapMove):
			if _, err := c.client.Move(set, moveTo).Wait(); err != nil {
				return fmt.Errorf("move messages to %s: %w", moveTo, err)
			}
			return nil
		default:
			if _, err := c.client.Copy(set, moveTo).Wait(); err != nil {
				return fmt.Errorf("copy messages to %s: %w", moveTo, err)
			}
		}
		return c.delete(set)
	})
}

// delete deletes messages, and no others.
func (c *connection) delete(set imap.UIDSet) error {
	if err := c.mark(imap.StoreFlagsAdd, set); err != nil {
		return fmt.Errorf("mark messages as deleted: %w", err)
	}
	expunge := func() *imapclient.ExpungeCommand { return c.client.UIDExpunge(set) }
	if !c.client.Caps().Has(imap.CapUIDPlus) {
		// The server can only delete whatever is marked, also by another client: of a message that is not stored yet, too.
		others, err := c.find(&imap.SearchCriteria{Flag: []imap.Flag{imap.FlagDeleted}, Not: []imap.SearchCriteria{{UID: []imap.UIDSet{set}}}})
		others = slices.DeleteFunc(others, set.Contains) // which a server that does not read NOT answers too
		if err == nil && len(others) > 0 {
			err = c.mark(imap.StoreFlagsDel, imap.UIDSetNum(others...))
		}
		if err != nil {
			return fmt.Errorf("keep messages that others marked as deleted: %w", err)
		}
		expunge = c.client.Expunge
	}
	if err := expunge().Close(); err != nil {
		return fmt.Errorf("delete messages: %w", err)
	}
	return nil
}

// mark marks messages as deleted, or takes the mark away.
func (c *connection) mark(op imap.StoreFlagsOp, set imap.UIDSet) error {
	return c.client.Store(set, &imap.StoreFlags{Op: op, Silent: true, Flags: []imap.Flag{imap.FlagDeleted}}, nil).Close()
}

// wait waits until there may be new messages, at most idleFor. It returns an error if the connection is dead.
func (c *connection) wait(ctx context.Context, now clock.Clock) error {
	var idle *imapclient.IdleCommand
	if c.client.Caps().Has(imap.CapIdle) {
		err := c.within(answerIn, answerMost, func() (err error) {
			idle, err = c.client.Idle()
			return err
		})
		if err != nil {
			return err
		}
	}
	timer := now.NewTimer(idleFor)
	defer timer.Stop()
	select {
	case <-c.news:
	case <-timer.C:
	case <-c.client.Closed():
	case <-ctx.Done():
	}
	return c.within(answerIn, answerMost, func() error {
		if idle == nil {
			return c.client.Noop().Wait()
		}
		if err := idle.Close(); err != nil {
			return err
		}
		return idle.Wait()
	})
}
