package apiclient_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/clock"
)

// A wait of several polls keeps what one of them found out, although a later one looked at a time in which nothing came.
func TestTimeoutHasDiagnosisOfAnyPoll(t *testing.T) {
	const filtered, nothing = `{"summary":"left out","causes":[{"code":"filtered"}]}`, `{"summary":"nothing","causes":[{"code":"nothing_arrived"}]}`
	for name, c := range map[string]struct {
		polls []string
		want  string
	}{
		"the first":          {[]string{filtered, nothing}, "left out"},
		"the last":           {[]string{nothing, filtered}, "left out"},
		"nothing at all":     {[]string{nothing, nothing}, "nothing"},
		"the last has none":  {[]string{filtered, ""}, "left out"},
		"an older service":   {[]string{"", ""}, ""},
		"the later is right": {[]string{`{"summary":"first","causes":[{"code":"no_code"}]}`, filtered}, "left out"},
	} {
		now, polls := clock.NewJumping(time.Unix(1, 0)), 0
		api := apiFunc(func(r apiclient.Request) (*apiclient.Response, error) {
			now.Advance(r.Wait)
			body := `{"data":[],"nextCursor":null`
			if polls < len(c.polls) && c.polls[polls] != "" {
				body += `,"diagnosis":` + c.polls[polls]
			}
			polls++
			return &apiclient.Response{Status: http.StatusOK, Body: []byte(body + "}")}, nil
		})
		w := apiclient.Wait{Clock: now, Timeout: 50 * time.Second, Retry: apiclient.IsUnavailable}
		err := apiclient.Messages(t.Context(), w, apiclient.Search{API: api, Query: url.Values{}}, func([]struct{ ID string }) (apiclient.Outcome, error) {
			return apiclient.Found, nil
		})
		got := ""
		if d := apiclient.DiagnosisOf(err); d != nil {
			got = d.Summary
		}
		if !errors.Is(err, apiclient.ErrTimeout) || got != c.want {
			t.Errorf("Messages where the diagnosis of %s is to be kept: %v with %q, want ErrTimeout with %q", name, err, got, c.want)
		}
	}
	problem := (&apiclient.Response{Status: 404, Body: []byte(`{"code":"otp.not_found","title":"T","diagnosis":` + filtered + `}`)}).Err()
	if d := apiclient.DiagnosisOf(problem); d == nil || d.Causes[0].Code != "filtered" {
		t.Errorf("DiagnosisOf(%v) = %+v, want that of the problem", problem, d)
	}
	if d := apiclient.DiagnosisOf(errors.New("other")); d != nil {
		t.Errorf("DiagnosisOf of an error without one = %+v, want nil", d)
	}
}
