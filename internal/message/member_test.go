package message

import (
	"encoding/json"
	"testing"
)

func FuzzMember(f *testing.F) {
	for _, seed := range []string{`{"otp":null}`, `{"a":"\"otp\":1","b":[{"otp":2},"]"],"otp":{"code":"}","links":["\\"]}}`, `{"x\"":-1.5e3,"otp":"\u0000"}`, `{"otp"`, `{`, `{"a":"`, "{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = member(text, "otp") // must not panic whatever it reads
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			return
		}
		written, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if v, ok := object["otp"]; ok {
			b, _ := json.Marshal(v)
			want = string(b)
		}
		if found := member(string(written), "otp"); found != want {
			t.Errorf("member(%s, otp) = %q, want %q", written, found, want)
		}
	})
}
