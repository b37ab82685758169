package system_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// The lexicon of the code extractor takes the longest to load. It is loaded before the service says that it is ready,
// so that the first mail does not wait for it.
func TestLexiconIsLoadedBeforeReady(t *testing.T) {
	s := start(t, options{})
	res, err := http.Get("http://" + s.metrics + "/debug/pprof/heap?gc=1&debug=1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	heap, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(heap), "internal/otp/lexicon.newTrie") {
		t.Errorf("the heap holds no lexicon:\n%.3000s", heap)
	}
}
