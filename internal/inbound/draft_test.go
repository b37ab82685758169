package inbound

import (
	"os"
	"testing"

	"github.com/gonebox/gonebox/internal/buffer"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func TestMailIsEncodedWithinItsBuffer(t *testing.T) {
	s := newBare(t, dbtest.Open(t, db.Options{}), bare{})
	for _, name := range []string{"text4k", "alt4k", "att64k"} {
		content, err := os.ReadFile("testdata/" + name + ".eml")
		if err != nil {
			t.Fatal(err)
		}
		m := s.benchMail(t, "bench1", content)
		if got, want := cap(*m.buf), buffer.Size(encodeFactor*len(content)); got != want {
			t.Errorf("%s, %d octets: the buffer has %d octets, want %d", name, len(content), got, want)
		}
		m.release()
	}
}
