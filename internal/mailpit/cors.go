package mailpit

import "net/http"

// allowOrigin sets the CORS fields of the response to a request that check has let pass, and reports whether it has responded, which
// it does to OPTIONS for an operation. A page of an origin that may call the API can then read the responses, and send JSON and
// methods that browsers ask for first. Like Mailpit it responds to OPTIONS with an empty body.
func allowOrigin(w http.ResponseWriter, r *http.Request) (done bool) {
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Content-Disposition, Retry-After")
	}
	if r.Method != http.MethodOptions || !isOperation(r) {
		return false
	}
	h.Set("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
	if origin != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, X-Requested-With")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusOK)
	return true
}
