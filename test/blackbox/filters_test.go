package blackbox_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// extraction is an extraction filter as a client reads it.
type extraction struct {
	ID, Name, ScopeType, ExtractRegex, Status string
	DomainID, FromPattern, SubjectPattern     *string
	Priority                                  int
	CreatedAt, UpdatedAt                      time.Time
}

// filter makes a filter.
func (s *service) filter(u user, params fields) (f extraction) {
	s.t.Helper()
	whole := fields{"name": "test"}
	maps.Copy(whole, params)
	a := s.Call(http.MethodPost, "/me/filters", u.Token, whole)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create a filter: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &f)
	return f
}

func text(p *string) string {
	if p == nil {
		return "<null>"
	}
	return *p
}

func TestCreateFilter(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	f := s.filter(u, fields{"extractRegex": `order (\d+)`})
	identifier(t, f.ID, "flt")
	now := s.Clock.Now()
	if f.Name != "test" || f.ScopeType != "all" || f.DomainID != nil || f.FromPattern != nil || f.SubjectPattern != nil || f.Priority != 100 ||
		f.Status != "active" || !f.CreatedAt.Equal(now) || !f.UpdatedAt.Equal(now) || f.ExtractRegex != `order (\d+)` {
		t.Errorf("POST /me/filters = %+v, want the defaults: test, all domains, no patterns, priority 100, active since %v, and its expression", f, now)
	}
	f = s.filter(u, fields{
		"extractRegex": "x", "scopeType": "all", "domainId": nil, "fromPattern": "@shop", "subjectPattern": nil, "priority": 9999, "status": "disabled",
	})
	if text(f.FromPattern) != "@shop" || f.SubjectPattern != nil || f.Priority != 9999 || f.Status != "disabled" {
		t.Errorf("POST /me/filters with all fields = %+v, want @shop, no pattern of the subject, priority 9999, disabled", f)
	}
	if got := get[[]extraction](s, "/me/filters", u.Token); len(got) != 2 {
		t.Errorf("GET /me/filters = %+v, want two", got)
	}
	if got := get[[]extraction](s, "/me/filters", s.account("eve@example.org").Token); len(got) != 0 {
		t.Errorf("GET /me/filters of another account = %+v, want none", got)
	}
}

func TestCreateFilterRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"plans.free.filters.max": "1"})
	u := s.account("ada@example.org")
	for what, c := range map[string]struct {
		params        any
		code, pointer string
	}{
		"no body":             {nil, "request.invalid", ""},
		"no name":             {fields{"extractRegex": "x"}, "request.invalid", ""},
		"long name":           {fields{"name": strings.Repeat("n", 101), "extractRegex": "x"}, "request.invalid", "/name"},
		"no regex":            {fields{"name": "n"}, "request.invalid", ""},
		"null regex":          {fields{"name": "n", "extractRegex": nil}, "request.invalid", "/extractRegex"},
		"long regex":          {fields{"name": "n", "extractRegex": strings.Repeat("x", 513)}, "request.invalid", "/extractRegex"},
		"priority 0":          {fields{"name": "n", "extractRegex": "x", "priority": 0}, "request.invalid", "/priority"},
		"priority 10000":      {fields{"name": "n", "extractRegex": "x", "priority": 10000}, "request.invalid", "/priority"},
		"unknown status":      {fields{"name": "n", "extractRegex": "x", "status": "off"}, "request.invalid", "/status"},
		"unknown scope":       {fields{"name": "n", "extractRegex": "x", "scopeType": "mailbox"}, "request.invalid", "/scopeType"},
		"unknown field":       {fields{"name": "n", "extractRegex": "x", "regex": "x"}, "request.invalid", "/regex"},
		"scope without id":    {fields{"name": "n", "extractRegex": "x", "scopeType": "domain"}, "request.invalid", "/domainId"},
		"scope with null":     {fields{"name": "n", "extractRegex": "x", "scopeType": "domain", "domainId": nil}, "request.invalid", "/domainId"},
		"scope with no id":    {fields{"name": "n", "extractRegex": "x", "scopeType": "domain", "domainId": "x"}, "request.invalid", "/domainId"},
		"another's domain":    {fields{"name": "n", "extractRegex": "x", "scopeType": "domain", "domainId": "dom_" + strings.Repeat("0", 26)}, "request.invalid", "/domainId"},
		"id without scope":    {fields{"name": "n", "extractRegex": "x", "domainId": "dom_" + strings.Repeat("0", 26)}, "request.invalid", "/domainId"},
		"broken regex":        {fields{"name": "n", "extractRegex": `ab(\d`}, "filter.invalid_regex", "/extractRegex"},
		"look-behind":         {fields{"name": "n", "extractRegex": `(?<=x)\d`}, "filter.invalid_regex", "/extractRegex"},
		"back-reference":      {fields{"name": "n", "extractRegex": `(x)\1`}, "filter.invalid_regex", "/extractRegex"},
		"a bomb":              {fields{"name": "n", "extractRegex": `((x{30}){30}){30}`}, "filter.invalid_regex", "/extractRegex"},
		"broken fromPattern":  {fields{"name": "n", "extractRegex": "x", "fromPattern": "*"}, "filter.invalid_regex", "/fromPattern"},
		"broken subject":      {fields{"name": "n", "extractRegex": "x", "subjectPattern": "[z-a]"}, "filter.invalid_regex", "/subjectPattern"},
		"long subjectPattern": {fields{"name": "n", "extractRegex": "x", "subjectPattern": strings.Repeat("x", 513)}, "request.invalid", "/subjectPattern"},
	} {
		a := s.Call(http.MethodPost, "/me/filters", u.Token, c.params)
		want(t, a, 422, c.code)
		p := problemOf(t, a)
		if c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: POST /me/filters = %s, want an error at %s first", what, a.Body, c.pointer)
		}
		if c.code == "filter.invalid_regex" && !strings.Contains(p.Errors[0].Message, "position") {
			t.Errorf("%s: POST /me/filters = %s, want the position in the message", what, a.Body)
		}
	}
	f := s.filter(u, fields{"extractRegex": "x"})
	want(t, s.Call(http.MethodPost, "/me/filters", u.Token, fields{"name": "n", "extractRegex": "x"}), 422, "filter.limit_reached")
	s.plan(u, "pro")
	if _, err := s.Database().Exec("UPDATE filter SET size = 128*1024 - 200 WHERE id = $1", f.ID); err != nil { // as if there were hundreds
		t.Fatal(err)
	}
	large := strings.Repeat("[a-z]", 100) + "{200}"
	want(t, s.Call(http.MethodPost, "/me/filters", u.Token, fields{"name": "n", "extractRegex": large}), 422, "filter.limit_reached")
	small := s.filter(u, fields{"extractRegex": "x"})
	want(t, s.Call(http.MethodPatch, "/me/filters/"+small.ID, u.Token, fields{"extractRegex": large}), 422, "filter.limit_reached")
}

func TestUpdateFilter(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	f := s.filter(u, fields{"extractRegex": "x", "fromPattern": "a", "subjectPattern": "b", "priority": 7})
	path := "/me/filters/" + f.ID
	patch := func(change fields) (f extraction) {
		t.Helper()
		s.Clock.Advance(time.Second)
		a := s.Call(http.MethodPatch, path, u.Token, change)
		want(t, a, 200, "")
		a.Into(t, &f)
		return f
	}
	got := patch(fields{"fromPattern": nil, "name": "new"})
	if got.FromPattern != nil || text(got.SubjectPattern) != "b" || got.Name != "new" || got.Priority != 7 || got.Status != "active" ||
		!got.CreatedAt.Equal(f.CreatedAt) || !got.UpdatedAt.Equal(s.Clock.Now()) {
		t.Errorf("PATCH with a new name and no fromPattern = %+v, want these, and the rest as before, changed at %v", got, s.Clock.Now())
	}
	got = patch(fields{"subjectPattern": nil, "fromPattern": "c", "extractRegex": "y", "priority": 1, "status": "disabled"})
	if text(got.FromPattern) != "c" || got.SubjectPattern != nil || got.ExtractRegex != "y" || got.Priority != 1 || got.Status != "disabled" {
		t.Errorf("PATCH with all other fields = %+v, want them changed, and no subjectPattern", got)
	}
	for _, field := range []string{"name", "extractRegex", "priority", "status"} { // what cannot be cleared
		want(t, s.Call(http.MethodPatch, path, u.Token, fields{field: nil}), 422, "request.invalid")
	}
	kept := patch(fields{})
	if text(kept.FromPattern) != "c" || kept.Name != "new" || kept.ExtractRegex != "y" || kept.Priority != 1 || kept.Status != "disabled" {
		t.Errorf(`an empty change changed: %+v, want FromPattern "c", Name "new", ExtractRegex "y", Priority 1 and Status "disabled"`, kept)
	}
	for _, c := range []struct {
		change  fields
		pointer string
	}{
		{fields{"name": ""}, "/name"},
		{fields{"extractRegex": ""}, "/extractRegex"},
		{fields{"priority": 10000}, "/priority"},
		{fields{"fromPattern": 7}, "/fromPattern"},
		{fields{"fromPattern": strings.Repeat("x", 513)}, "/fromPattern"},
		{fields{"scopeType": "all"}, "/scopeType"},
		{fields{"domainId": nil}, "/domainId"},
	} {
		a := s.Call(http.MethodPatch, path, u.Token, c.change)
		want(t, a, 422, "request.invalid")
		if p := problemOf(t, a); len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer {
			t.Errorf("PATCH with %v: %s, want an error at %s first", c.change, a.Body, c.pointer)
		}
	}
	want(t, s.Call(http.MethodPatch, path, u.Token, fields{"fromPattern": "("}), 422, "filter.invalid_regex")
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		var change any
		if method == http.MethodPatch {
			change = fields{"name": "n"}
		}
		foreign := s.Call(method, path, eve.Token, change)
		want(t, foreign, 404, "filter.not_found")
		for _, other := range []string{"x", "flt_" + strings.Repeat("0", 26), strings.Replace(f.ID, "flt", "mbx", 1)} {
			same(t, foreign, s.Call(method, "/me/filters/"+other, u.Token, change))
		}
	}
	s.call(http.MethodDelete, path, u.Token, 204, "")
	s.call(http.MethodDelete, path, u.Token, 404, "filter.not_found")
}

func TestTryFilter(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	sample := fields{"from": "no-reply@shop.example", "subject": "Your order", "text": "Order AB-77 is on its way. Your verification code is 482913."}
	for what, c := range map[string]struct {
		filter  fields
		matched bool
		step    string
		code    string
	}{
		"a match":         {fields{"extractRegex": `Order (\S+)`, "fromPattern": "@SHOP", "subjectPattern": "order"}, true, "matched", "AB-77"},
		"digits":          {fields{"extractRegex": `code is (\d{3}\d{3})`}, true, "matched", "482913"},
		"the subject too": {fields{"extractRegex": `(?P<x>Your) (?P<code>order)`, "fromPattern": nil, "subjectPattern": nil}, true, "matched", "order"},
		"another sender":  {fields{"extractRegex": `x`, "fromPattern": "@bank", "subjectPattern": "no"}, false, "from", "<null>"},
		"another subject": {fields{"extractRegex": `x`, "subjectPattern": "no"}, false, "subject", "<null>"},
		"no code":         {fields{"extractRegex": `Order (\d+)`}, false, "extract", "<null>"},
	} {
		a := s.Call(http.MethodPost, "/me/filters/test", u.Token, fields{"filter": c.filter, "sample": sample})
		want(t, a, 200, "")
		var got struct {
			Matched           bool
			Step              string
			Code, BuiltinCode *string
			Candidates        []struct {
				Value, Display, Where string
				Reasons               []string
				Chosen                bool
			}
		}
		a.Into(t, &got)
		if got.Matched != c.matched || got.Step != c.step || text(got.Code) != c.code || text(got.BuiltinCode) != "482913" {
			t.Errorf("%s: POST /me/filters/test = %s, want a match: %t, the step %s, the code %q, and the built-in extractor's 482913", what, a.Body, c.matched, c.step, c.code)
		}
		if !slices.ContainsFunc(got.Candidates, func(c struct {
			Value, Display, Where string
			Reasons               []string
			Chosen                bool
		},
		) bool {
			return c.Chosen && c.Value == "482913" && len(c.Reasons) > 0
		}) {
			t.Errorf("%s: %s, want the candidate 482913 chosen, with reasons", what, a.Body)
		}
	}
	for what, c := range map[string]struct {
		body          any
		code, pointer string
	}{
		"no body":      {nil, "request.invalid", ""},
		"no sample":    {fields{"filter": fields{"extractRegex": "x"}}, "request.invalid", ""},
		"no filter":    {fields{"sample": sample}, "request.invalid", ""},
		"no regex":     {fields{"filter": fields{}, "sample": sample}, "request.invalid", ""},
		"a name":       {fields{"filter": fields{"extractRegex": "x", "name": "n"}, "sample": sample}, "request.invalid", "/filter/name"},
		"broken regex": {fields{"filter": fields{"extractRegex": "x("}, "sample": sample}, "filter.invalid_regex", "/filter/extractRegex"},
	} {
		a := s.Call(http.MethodPost, "/me/filters/test", u.Token, c.body)
		want(t, a, 422, c.code)
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: POST /me/filters/test = %s, want an error at %s first", what, a.Body, c.pointer)
		}
	}
	if got := get[[]extraction](s, "/me/filters", u.Token); len(got) != 0 {
		t.Errorf("GET /me/filters after a trial = %+v, want none", got)
	}
}

// A filter applies to its owner's messages only: other recipients of the same mail get the built-in extractor's code.
func TestFiltersApplyToTheirOwnersMail(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	first, second, hers, guest := s.create(u.Token, nil), s.create(u.Token, nil), s.create(eve.Token, nil), s.create("", nil)
	s.filter(eve, fields{"extractRegex": `nothing (\d+)`})
	f := s.filter(u, fields{"extractRegex": `Order (\S+)`, "fromPattern": "@example.org$"})
	all := []string{first.Address, second.Address, hers.Address, guest.Address}
	const mailText = "Order AB-77 is yours. Your verification code is 482913.\nhttps://shop.example/verify?token=abcdef0123456789"
	s.Send(apptest.Mail{To: all, Subject: "Sign in", Text: mailText})
	latest := func(m mailbox) code { return get[code](s, "/mailboxes/me/otp/latest", m.Token) }
	for _, m := range []mailbox{first, second} {
		got := latest(m)
		if got.Code != "AB-77" || got.Display != "AB-77" || got.Source != "filter" || text(got.FilterID) != f.ID || got.Kind != "alphanumeric" || got.Confidence != 1 {
			t.Errorf(`latest(m) = %+v, want Code "AB-77", Display "AB-77", Source "filter", FilterID %v, Kind "alphanumeric" and Confidence 1`, got, f.ID)
		}
		if list := get[[]summary](s, "/mailboxes/me/messages", m.Token); list[0].OTP == nil || list[0].OTP.Code != "AB-77" || !slices.Equal(got.Links, latest(guest).Links) {
			t.Errorf("GET /mailboxes/me/messages has %+v first, want the code AB-77 and the links %v", list[0], latest(guest).Links)
		}
	}
	for _, m := range []mailbox{hers, guest} {
		if got := latest(m); got.Code != "482913" || got.Source != "builtin" || got.FilterID != nil {
			t.Errorf("the latest code is %+v, want 482913, found without a filter", got)
		}
	}
	s.Send(apptest.Mail{From: "a@other.example", To: all, Subject: "Sign in", Text: mailText})
	if got := latest(first); got.Code != "482913" || got.Source != "builtin" {
		t.Errorf(`another sender: %+v, want Code "482913" and Source "builtin"`, got)
	}
	// A lower priority number wins, whatever the filters' age, and separators are removed from digits. Other processes
	// apply a new filter a moment later.
	s.filter(u, fields{"extractRegex": `is (\d{3} \d{3})`, "priority": 1})
	var got code
	eventually(t, "the better filter", func() bool {
		s.Send(apptest.Mail{To: all[:1], Text: "Order AB-78. Your code is 555 444."})
		got = latest(first)
		return got.Code != "AB-78."
	})
	if got.Code != "555444" || got.Display != "555 444" || got.Kind != "numeric" {
		t.Errorf(`got = %+v, want Code "555444", Display "555 444" and Kind "numeric"`, got)
	}
	// A change applies to later mail, and codes found earlier stay.
	s.call(http.MethodDelete, "/me/filters/"+f.ID, u.Token, 204, "")
	var list []summary
	eventually(t, "the end of the filter", func() bool {
		s.Send(apptest.Mail{To: all[1:2], Text: "Order AB-79 has no code of its own."})
		list = get[[]summary](s, "/mailboxes/me/messages", second.Token)
		return list[0].OTP == nil
	})
	slices.Reverse(list)
	if list[0].OTP.Code != "AB-77" || list[1].OTP.Code != "482913" {
		t.Errorf("GET /mailboxes/me/messages = %+v, want the codes AB-77 and 482913", list)
	}
}

func TestFilterFindsCodeThatBuiltInExtractorMisses(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	m := s.create(u.Token, nil)
	s.filter(u, fields{"extractRegex": `booth ([a-z]+)`, "subjectPattern": "^VISIT"})
	waiting := s.waiting(waitForCode, m.Token)
	html := "From: a@example.org\r\nTo: " + m.Address + "\r\nSubject: Visit us\r\nContent-Type: text/html\r\n\r\n<p>Come to <b>booth</b> <i>tango</i>!</p>\r\n"
	s.Send(apptest.Mail{To: []string{m.Address}, Raw: []byte(html)})
	a := waiting()
	want(t, a, 200, "")
	var got code
	if a.Into(t, &got); got.Code != "tango" || got.Links == nil {
		t.Errorf("the wait for a code = %s, want tango with its links", a.Body)
	}
}

func TestFiltersArePaged(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	var made, listed []string
	for range 5 {
		made = append([]string{s.filter(u, fields{"extractRegex": "x"}).ID}, made...)
		s.Clock.Advance(time.Millisecond)
	}
	for f := range pages[extraction](s, "/me/filters?limit=2", u.Token) {
		listed = append(listed, f.ID)
	}
	if !slices.Equal(listed, made) {
		t.Errorf("the pages of GET /me/filters list %v, want %v", listed, made)
	}
	s.call(http.MethodGet, "/me/filters?cursor=bWJ4XzA", u.Token, 422, "request.invalid")
}

func TestBodiesQueriesAndLimitsOfFilters(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"http.body_max": "1KiB", "http.large_body_max": "1KiB", "limits.other": "40/1m"})
	u := s.account("ada@example.org")
	f := s.filter(u, fields{"extractRegex": "x"})
	k := s.create(u.Token, nil)
	for _, call := range answersOf("/me/filters") {
		words := strings.Fields(call)
		method, path := words[0], strings.Replace(words[1], "{id}", f.ID, 1)
		switch {
		case words[2] == "413":
			want(t, s.Call(method, path, u.Token, append([]byte(`{"name":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case words[2] == "415":
			a := s.do(method, path, u.Token, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case words[2] == "422":
			s.call(method, path+"?no=1", u.Token, 422, "request.invalid")
		case words[2] == "401" && words[3] == "auth.required":
			s.call(method, path, "", 401, "auth.required")
			for _, wrong := range []string{k.Token, "xu_", mistyped(u.Token)} {
				s.call(method, path, wrong, 401, "auth.invalid_token")
			}
		}
	}
	for range 40 {
		s.Call(http.MethodGet, "/me/filters", u.Token, nil)
	}
	for _, call := range operationsOf("/me/filters") {
		words := strings.Fields(call)
		s.call(words[0], strings.Replace(words[1], "{id}", f.ID, 1), u.Token, 429, "rate.limited")
	}
}
