package system_test

import (
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// The load of TestManyProjects. A thousand of each take some minutes.
var (
	manyProjects     = flag.Int("projects", 40, "projects of the test of many projects")
	mailsOfProject   = flag.Int("projectmails", 25, "mails for each of them")
	projectsAtOnce   = flag.Int("projectsatonce", 16, "sessions at a time of that test")
	projectsResident = flag.Int64("projectsresident", 200<<20, "octets of memory that the service may have resident in that test")
)

// systemProject is a project as the API shows it.
type systemProject struct {
	ID, Name, Token string
	MessageCount    int
	SMTP            struct{ Password string }
}

func (s *service) project(token, name string, fields map[string]any) systemProject {
	s.t.Helper()
	body := map[string]any{"name": name}
	maps.Copy(body, fields)
	status, text := s.call(http.MethodPost, "/me/projects", token, body)
	if status != http.StatusCreated {
		s.t.Fatalf("create the project %s: %d %s, want 201", name, status, text)
	}
	return decode[systemProject](s.t, text)
}

// signedIn opens a session of a service that is signed in to a project.
func (s *service) signedIn(p systemProject) *client {
	s.t.Helper()
	c, err := dial(s.t.Context(), s.smtp)
	if err != nil {
		s.t.Fatal(err)
	}
	reply, err := c.say("AUTH PLAIN %s", base64.StdEncoding.EncodeToString([]byte("\x00"+p.Name+"\x00"+p.SMTP.Password)))
	if err != nil || !strings.HasPrefix(reply, "235 ") {
		s.t.Fatalf("AUTH as %s: %q, %v, want 235", p.Name, reply, err)
	}
	return c
}

// TestDeletedProjectLeavesNothing deletes a project while mail for it comes in, and searches every file of the data folder: also for mail
// that was deleted before, that was beyond the number to keep, and that is large. No mail is answered 250 once the deletion is.
func TestDeletedProjectLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"smtp.projects": "on", "mailbox.erase_every": "1s", "account.password.memory": "64KiB"}})
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	mark, kept := randomText(rng, 60)[:60], randomText(rng, 60)[:60]
	ada := s.register("ada@example.org")
	p, other := s.project(ada, "doomed", map[string]any{"maxMessages": 20}), s.newMailbox()
	wantReply(t, "other mail", send(t, s.smtp, marked(kept, rng), other.Address), "250 ")
	large := append(marked(mark, rng), []byte(strings.Repeat(mark+"\r\n", 40_000))...)
	c := s.signedIn(p)
	for range 3 {
		reply, err := c.send("a@shop.test", []string{"ada@shop.test"}, large)
		if err != nil {
			t.Fatal(err)
		}
		wantReply(t, "a large mail", reply, "250 ")
	}

	var senders sync.WaitGroup
	var taken, late atomic.Int64
	var deleted atomic.Bool
	begun := make(chan struct{}, 4)
	for range 4 {
		session, data := s.signedIn(p), marked(mark, rng)
		senders.Go(func() {
			defer session.conn.Close()
			for n := 0; ; n++ {
				after := deleted.Load()
				reply, err := session.send("a@shop.test", []string{"ada@shop.test", "bob@shop.test"}, data)
				switch {
				case err != nil:
					t.Errorf("mail %d: %v, want a reply", n, err)
					return
				case strings.HasPrefix(reply, "250 "):
					if taken.Add(1); after {
						late.Add(1)
					}
				case !strings.HasPrefix(reply, "550 5.1.1 ") && !strings.HasPrefix(reply, "451 4.2.1 "):
					t.Errorf("mail %d: %s, want 250, 550 5.1.1 or 451 4.2.1", n, reply)
				case strings.HasPrefix(reply, "550 "):
					return
				}
				if n == 10 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-begun
	}
	if status, body := s.call(http.MethodDelete, "/me/projects/"+p.ID, ada, nil); status != http.StatusNoContent {
		t.Fatalf("DELETE /me/projects/%s: %d %s, want 204", p.ID, status, body)
	}
	deleted.Store(true)
	senders.Wait()
	if late.Load() > 0 || taken.Load() == 0 {
		t.Errorf("%d mails were answered 250, and %d of them were sent after the project was deleted, want some and none", taken.Load(), late.Load())
	}
	awaitWithin(t, 2*patience, "what the project had is in no file", func() bool { return occurrences(t, s.dir, mark) == 0 })
	s.stop()
	if n := occurrences(t, s.dir, mark); n > 0 {
		t.Errorf("after the stop the text is in the files %d times, want 0", n)
	}
	if occurrences(t, s.dir, kept) == 0 {
		t.Error("the files have nothing of the other mailbox, want its mail kept")
	}
	integrity(t, s.dir)
}

// TestProjectIsKnownToAllProcessesAtOnce makes a project in one process and uses it in another.
func TestProjectIsKnownToAllProcessesAtOnce(t *testing.T) {
	t.Parallel()
	c := startCluster(t, dbtest.PostgresURL(t), map[string]string{"smtp.projects": "on", "account.password.memory": "64KiB", "plans.free.projects.max": "20"}, "smtp, api", "smtp, api, jobs")
	one, two := c.processes[0], c.processes[1]
	ada := one.register("ada@example.org")
	bob := two.register("bob@example.org")
	for i := range 10 {
		p := one.project(ada, fmt.Sprintf("p%d", i), map[string]any{"maxMessages": 2})
		if status, body := two.call(http.MethodPut, "/me/projects/"+p.ID+"/members/bob@example.org", ada, nil); status != http.StatusOK {
			t.Fatalf("PUT the member bob in the other process: %d %s, want 200", status, body)
		}
		waited := make(chan []byte, 1)
		go func() { // in the process that does not receive the mail
			_, body := one.call(http.MethodGet, "/me/messages?wait=20&project="+p.Name, bob, nil)
			waited <- body
		}()
		session := two.signedIn(p)
		for n := range 3 {
			reply, err := session.send("a@shop.test", []string{"ada@shop.test"}, fmt.Appendf(nil, "Subject: mail %d of %s\r\n\r\nHello.\r\n", n, p.Name))
			if err != nil {
				t.Fatal(err)
			}
			wantReply(t, "mail in the other process", reply, "250 ")
		}
		if body := <-waited; !strings.Contains(string(body), " of "+p.Name) {
			t.Errorf("the wait of a member in the other process: %s, want a mail of %s", body, p.Name)
		}
		if got := decode[systemProject](t, one.get("/me/projects/"+p.Name, bob)); got.MessageCount != 2 {
			t.Errorf("%s has %d messages in the other process, want 2", p.Name, got.MessageCount)
		}
		if status, body := one.call(http.MethodDelete, "/me/projects/"+p.ID, ada, nil); status != http.StatusNoContent {
			t.Fatalf("DELETE /me/projects/%s: %d %s, want 204", p.ID, status, body)
		}
		reply, err := session.send("a@shop.test", []string{"ada@shop.test"}, []byte("Subject: too late\r\n\r\nHello.\r\n"))
		if err != nil || !strings.HasPrefix(reply, "550 5.1.1 ") && !strings.HasPrefix(reply, "451 4.2.1 ") { // RCPT may know the mailbox for some seconds
			t.Errorf("mail in the other process after the deletion: %q, %v, want 550 5.1.1 or 451 4.2.1", reply, err)
		}
		session.conn.Close()
	}
}

// TestManyProjects creates projects while mail comes in, and fills them, in 256 MiB.
func TestManyProjects(t *testing.T) {
	t.Parallel()
	g := newCgroup(t, 256*mib)
	s := start(t, options{wrap: g.wrap(), set: map[string]string{
		"smtp.projects": "on", "account.password.memory": "64KiB", "plans.free.projects.max": "100000", "plans.free.mail.daily.max": "100000000",
		"limits.smtp_connections": "1000", "compat.mailpit.addr": "127.0.0.1:0", "smtp.max_commands": "1000000000",
	}})
	ada, wall := s.register("ada@example.org"), clock.System()
	begun := wall.Now()
	names := make(chan int, *manyProjects)
	for i := range *manyProjects {
		names <- i
	}
	close(names)
	mail := []byte("From: a@shop.test\r\nTo: ada@shop.test\r\nSubject: Your code\r\n\r\nYour sign-in code is 246810.\r\n" + strings.Repeat("Some more text of the mail.\r\n", 30))
	var workers sync.WaitGroup
	var creating atomic.Int64
	for range *projectsAtOnce {
		workers.Go(func() {
			for i := range names {
				before := wall.Now()
				p := s.project(ada, fmt.Sprintf("p%d", i), map[string]any{"maxMessages": max(1, *mailsOfProject-5)})
				creating.Add(int64(wall.Now().Sub(before)))
				c := s.signedIn(p)
				for n := range *mailsOfProject {
					c.within(patience)
					if reply, err := c.send("a@shop.test", []string{fmt.Sprintf("user%d@shop.test", n)}, mail); err != nil || !strings.HasPrefix(reply, "250 ") {
						t.Errorf("mail %d to the project %s: %q, %v, want 250", n, p.Name, reply, err)
						break
					}
				}
				c.conn.Close()
			}
		})
	}
	workers.Wait()
	took := wall.Now().Sub(begun)
	resident := g.rss(t)
	t.Logf("%d projects with %d mails each: %v, %.0f mails/s, %.1f ms for a creation, %d MiB resident", *manyProjects, *mailsOfProject, took,
		float64(*manyProjects**mailsOfProject)/took.Seconds(), float64(creating.Load())/1e6/float64(*manyProjects), resident>>20)
	if resident > *projectsResident {
		t.Errorf("%d MiB are resident, want %d at most", resident>>20, *projectsResident>>20)
	}
	want := min(*mailsOfProject, max(1, *mailsOfProject-5))
	before := wall.Now()
	for i := range *manyProjects {
		if got := decode[systemProject](t, s.get(fmt.Sprintf("/me/projects/p%d", i), ada)); got.MessageCount != want {
			t.Errorf("the project p%d has %d messages, want %d", i, got.MessageCount, want)
		}
	}
	t.Logf("reading each: %v", wall.Now().Sub(before))
}
