package mailpit

import (
	"net/http"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
)

// tags responds with the tags of all messages.
func (a *API) tags(w http.ResponseWriter, r *http.Request) {
	names, err := a.Mails.TagNames(r.Context())
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	writeJSON(w, names)
}

// setTags replaces the tags of some messages.
func (a *API) setTags(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	var body struct{ Tags, IDs []string }
	lease, err := a.kit.ReadJSON(r.Context(), r, &body, httpkit.JSONBounds{Octets: bodyMax, Tokens: idTokensMax})
	if err == nil {
		defer lease.Release()
		err = a.Mails.SetTags(r.Context(), parseIDs(body.IDs), body.Tags)
	}
	a.respondOKOrError(w, r, err)
}

// renameTag renames a tag of all messages.
func (a *API) renameTag(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	var body struct{ Name string }
	lease, err := a.kit.ReadJSON(r.Context(), r, &body, httpkit.JSONBounds{Octets: 4 << 10, Tokens: 100})
	if err == nil {
		defer lease.Release()
		err = a.Mails.RenameTag(r.Context(), r.PathValue("tag"), body.Name)
	}
	a.respondTagChanged(w, r, err)
}

// deleteTag removes a tag from all messages.
func (a *API) deleteTag(w http.ResponseWriter, r *http.Request) {
	extendWriteDeadline(w)
	a.respondTagChanged(w, r, a.Mails.DeleteTag(r.Context(), r.PathValue("tag")))
}

// respondTagChanged responds to a change of a tag.
func (a *API) respondTagChanged(w http.ResponseWriter, r *http.Request, err error) {
	if problem.Has(err, problem.MessageNotFound) {
		writeError(w, http.StatusNotFound, "no message has this tag")
		return
	}
	a.respondOKOrError(w, r, err)
}
