package smtpd_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/smtpd"
)

func TestShutdownLetsMessagesFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		in := &fakeInbound{}
		b := serveOnPipes(t, smtpd.Config{}, in)
		idle, within, receiving, chunk := b.dial(home), b.dial(home), b.dial(home), b.dial(home)
		idle.hello()
		within.hello()
		within.envelope()
		receiving.hello()
		receiving.data()
		receiving.send("one\r\n")
		chunk.hello()
		chunk.envelope()
		chunk.send("BDAT 7 LAST\r\none")
		synctest.Wait()

		start := time.Now()
		stopped := make(chan struct{})
		go func() {
			b.stop()
			close(stopped)
		}()
		idle.expect("421 4.3.2")
		idle.expectEnd()
		if took := time.Since(start); took != 0 {
			t.Errorf("the idle session got its reply after %v, want 0", took)
		}
		time.Sleep(time.Minute)
		in.before = func(context.Context) { <-release }
		within.send("DATA\r\n")
		within.expect("354")
		within.send("three\r\n.\r\n")
		receiving.send("two\r\n.\r\n")
		chunk.send("\r\n\r\n")
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Shutdown returned before Deliver, want it to wait")
		default:
		}
		close(release)
		for _, c := range []*client{within, receiving, chunk} {
			c.expect("250 2.0.0", "421 4.3.2")
			c.expectEnd()
		}
		<-stopped
		if n := len(in.deliveries()); n != 3 {
			t.Errorf("%d messages were delivered, want 3", n)
		}
	})
}

func TestShutdownThatRunsOutOfTimeCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan error, 1)
		in := &fakeInbound{before: func(ctx context.Context) {
			<-ctx.Done()
			cancelled <- ctx.Err()
		}}
		b := serveOnPipes(t, smtpd.Config{}, in)
		receiving, delivering := b.dial(home), b.dial(home)
		receiving.hello()
		receiving.data()
		delivering.hello()
		delivering.data()
		delivering.send("one\r\n.\r\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := b.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v, want the error %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("Shutdown took %v, want %v", took, time.Minute)
		}
		receiving.expectEnd()
		delivering.expectEnd()
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("the delivery's context: %v, want the error %v", err, context.Canceled)
		}
		if err := <-b.served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestServeAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{}, &fakeInbound{})
		b.stop()
		if err := b.server.Shutdown(t.Context()); err != nil {
			t.Errorf("second Shutdown: %v", err)
		}
		late := &pipes{closed: make(chan struct{})}
		if err := b.server.Serve(late); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if _, err := late.Accept(); err == nil {
			t.Error("Accept on the listener of a server that was shut down returned no error, want it closed")
		}
	})
}

// A delivery continues if the client disconnects: the client has sent its message and may never try again.
func TestDeliveryOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		var state error
		in := &fakeInbound{before: func(ctx context.Context) {
			close(entered)
			<-release
			state = ctx.Err()
		}}
		b := serveOnPipes(t, smtpd.Config{}, in)
		c := b.dial(home)
		c.hello()
		c.data()
		c.send("one\r\n.\r\n")
		<-entered
		_ = c.conn.Close()
		synctest.Wait()
		close(release)
		b.stop()
		if n := len(in.deliveries()); n != 1 || state != nil {
			t.Errorf("%d messages were delivered, the context said %v, want 1 and nil", n, state)
		}
	})
}
