package dbtest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// victim is set where this program is to start a server and then to be killed.
const victim = "GONEBOX_DBTEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		s, err := dbtest.Start()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(s.URL("postgres"))
		select {}
	}
	os.Exit(m.Run())
}

func reachable(url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false
	}
	_ = conn.Close(ctx)
	return true
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute in vain, want %s", what)
		}
	}
}

// However the test program ends, nothing of its server stays.
func TestServerEndsWithItsProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out PostgreSQL")
	}
	cmd := exec.Command(os.Args[0]) // this very program
	cmd.Env = append(os.Environ(), victim+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if url = strings.TrimSpace(url); err != nil || !reachable(url) {
		t.Fatalf("the program prints the URL %q, %v, want one at which its server is reachable", url, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	_, rest, _ := strings.Cut(url, "host=")
	dir, _, _ := strings.Cut(rest, "&")
	eventually(t, "the folder to go", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
	if reachable(url) {
		t.Errorf("%s is reachable after its program ended, want its server ended too", url)
	}
}

func TestServerKeepsItsDataAfterAKill(t *testing.T) {
	s := dbtest.StartServer(t)
	do := func(statement string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("execute %s: %v", statement, err)
		}
	}
	do("CREATE TABLE kept (n int)")
	for _, end := range []func() error{s.Kill, s.Stop} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if reachable(s.URL("postgres")) {
			t.Error("the server is reachable after its end, want it ended")
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		do("INSERT INTO kept VALUES (1)")
	}
}

func TestFrozenServerAnswersOnceItIsThawed(t *testing.T) {
	s := dbtest.StartServer(t)
	conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT 1")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("a frozen server answered: %v, want no answer until it is thawed", err)
	case <-time.After(100 * time.Millisecond): // a server that is not frozen answers within that, and fails the test
	}
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestFrozenServerEndsWithItsProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out PostgreSQL")
	}
	s, err := dbtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if reachable(s.URL("postgres")) {
		t.Error("the server is reachable after Close of the frozen server, want it ended")
	}
}
