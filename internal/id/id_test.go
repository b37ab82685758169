package id_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"pgregory.net/rapid"
)

func TestIdentifiersSortByTheMicrosecondTheyWereMadeFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micro := rapid.Int64Range(0, 4e15).Draw(t, "micro")
		step := rapid.Int64Range(1, 1e9).Draw(t, "step")
		a := id.New[id.Message](time.UnixMicro(micro))
		b := id.New[id.Message](time.UnixMicro(micro + step))
		if a >= b {
			t.Fatalf("New at %d µs = %s, and %d µs later %s, want one that sorts behind the first", micro, a, step, b)
		}
		if got := id.Time(a).UnixMicro(); got != micro {
			t.Fatalf("Time(%s) = %d µs, want %d µs", a, got, micro)
		}
	})
}

func TestParseTakesBackWhatNewMade(t *testing.T) {
	made := id.New[id.Mailbox](time.Unix(1_800_000_000, 0))
	if want := len("mbx_") + 26; len(made) != want {
		t.Errorf("New[Mailbox] = %s, of %d characters, want %d", made, len(made), want)
	}
	parsed, err := id.Parse[id.Mailbox](string(made))
	if err != nil || parsed != made {
		t.Errorf("Parse(%s) = %s, %v, want the same identifier", made, parsed, err)
	}
	if back := id.FromBytes[id.Mailbox](id.Bytes(made)); back != made {
		t.Errorf("FromBytes(Bytes(%s)) = %s, want the same identifier", made, back)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{
		"", "mbx", "mbx_", "msg_00000000000000000000000000", "mbx_0000000000000000000000000",
		"mbx_000000000000000000000000000", "mbx_80000000000000000000000000", "mbx_0000000000000000000000000u",
		"mbx_0000000000000000000000000A", "mbx_../../../etc/passwd-0000000",
	} {
		if got, err := id.Parse[id.Mailbox](bad); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", bad, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mbx_01j00000000000000000000000")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := id.Parse[id.Mailbox](s)
		if err == nil && id.FromBytes[id.Mailbox](id.Bytes(got)) != got {
			t.Errorf("FromBytes(Bytes(Parse(%q))) = %s, want %s", s, id.FromBytes[id.Mailbox](id.Bytes(got)), got)
		}
	})
}
