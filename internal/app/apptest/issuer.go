package apptest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// IssuerUser is a user of an Issuer. Claims are those of the ID token beside the ones of the protocol.
type IssuerUser struct {
	Subject string
	Claims  map[string]any
}

// Issuer is an OpenID Connect issuer on a loopback address that can misbehave: its hooks change what it says. It is safe for concurrent
// use; hooks and exported fields are set while no request is under way, or through Set.
type Issuer struct {
	URL, ClientID, ClientSecret string

	Now       func() time.Time                                  // nil: Noon
	Users     map[string]IssuerUser                             // by subject; one that is missing has left
	User      string                                            // the subject that signs in next; "": the browser is asked
	Claims    func(claims map[string]any)                       // changes the claims of an ID token
	Token     func(signed string, key *rsa.PrivateKey) string   // changes an ID token
	Before    func(w http.ResponseWriter, r *http.Request) bool // handles a request itself, if it returns true
	NoRefresh bool                                              // no refresh tokens

	mu     sync.Mutex
	key    *rsa.PrivateKey
	kid    string
	grants map[string]issuerGrant // by code or refresh token
	counts map[string]int         // of requests, by path
}

type issuerGrant struct{ subject, nonce, challenge, redirect string }

// NewIssuer starts an issuer without users. The end of the test closes it.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{ClientID: "gonebox", ClientSecret: "a secret of the client", Users: map[string]IssuerUser{}, grants: map[string]issuerGrant{}, counts: map[string]int{}}
	i.rotate(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(i.serve))
	i.URL = "http://" + server.Listener.Addr().String()
	server.Start()
	t.Cleanup(server.Close)
	return i
}

// Set changes the issuer while requests may be under way.
func (i *Issuer) Set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// Requests returns how many requests a path got.
func (i *Issuer) Requests(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[path]
}

// Rotate replaces the signing key.
func (i *Issuer) Rotate(t testing.TB) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rotate(t)
}

func (i *Issuer) rotate(t testing.TB) {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	i.key, i.kid = key, rand.Text()
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.counts[r.URL.Path]++
	before := i.Before
	i.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		respond(w, 200, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"userinfo_endpoint": i.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	case "/authorize":
		i.authorize(w, r)
	case "/token":
		i.token(w, r)
	case "/userinfo":
		respond(w, 200, map[string]any{"sub": r.Header.Get("Authorization")[len("Bearer "):]})
	case "/keys":
		respond(w, 200, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": i.kid,
			"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
		}}})
	default:
		http.NotFound(w, r)
	}
}

// askUser asks a browser who signs in.
var askUser = template.Must(template.New("").Parse(`<!DOCTYPE html><title>Issuer</title><form>
{{range $name, $values := .}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
<label>User <input name="user"></label><button>Continue</button></form>`))

// authorize signs User in at once, or asks.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != i.ClientID || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("nonce") == "" {
		http.Error(w, "the request is not one of the code flow with PKCE and a nonce", http.StatusBadRequest)
		return
	}
	user := i.User
	if user == "" {
		user = q.Get("user")
	}
	if user == "" {
		w.Header().Set("Content-Type", "text/html")
		_ = askUser.Execute(w, q)
		return
	}
	code := rand.Text()
	i.grants[code] = issuerGrant{user, q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}, "session_state": {"x"}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if id != i.ClientID || secret != i.ClientSecret {
		respond(w, 401, map[string]any{"error": "invalid_client"})
		return
	}
	presented := r.PostFormValue("code")
	if r.PostFormValue("grant_type") == "refresh_token" {
		presented = r.PostFormValue("refresh_token")
	}
	grant, ok := i.grants[presented]
	delete(i.grants, presented) // each is used once
	user, there := i.Users[grant.subject]
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || !there || grant.challenge != "" && (grant.challenge != encode(sum[:]) || grant.redirect != r.PostFormValue("redirect_uri")) {
		respond(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	now := Noon()
	if i.Now != nil {
		now = i.Now()
	}
	claims := map[string]any{"iss": i.URL, "sub": user.Subject, "aud": i.ClientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	if grant.nonce != "" {
		claims["nonce"] = grant.nonce
	}
	maps.Copy(claims, user.Claims)
	if i.Claims != nil {
		i.Claims(claims)
	}
	signed := i.sign(claims)
	if i.Token != nil {
		signed = i.Token(signed, i.key)
	}
	answer := map[string]any{"access_token": user.Subject, "token_type": "Bearer", "expires_in": 60, "id_token": signed}
	if !i.NoRefresh {
		refresh := rand.Text()
		i.grants[refresh] = issuerGrant{subject: user.Subject}
		answer["refresh_token"] = refresh
	}
	respond(w, 200, answer)
}

// sign returns claims as a token with RS256.
func (i *Issuer) sign(claims map[string]any) string {
	text := encodeJSON(map[string]any{"alg": "RS256", "kid": i.kid, "typ": "JWT"}) + "." + encodeJSON(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func encodeJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return encode(text)
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
