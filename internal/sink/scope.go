package sink

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

type scopeKey struct{}

// WithProject returns a context in which the methods of a Service list, read and change the mail of a project alone. In other contexts they
// have all mail, that of the sink and of every project.
func WithProject(ctx context.Context, project id.Project) context.Context {
	return context.WithValue(ctx, scopeKey{}, project)
}

// ProjectOf returns the project of a context, "" if it has none.
func ProjectOf(ctx context.Context) id.Project {
	project, _ := ctx.Value(scopeKey{}).(id.Project)
	return project
}

// within returns the condition that restricts a query to the mail of a project, with the project as its argument number n. Without a project
// there is none.
func within(project id.Project, n int) (condition string, args []any) {
	if project == "" {
		return "", nil
	}
	return " AND project_id = $" + strconv.Itoa(n), []any{project}
}

// inScope returns those of some mails that belong to the project of ctx.
func (s *Service) inScope(ctx context.Context, mails []id.SinkMail) ([]id.SinkMail, error) {
	project := ProjectOf(ctx)
	if project == "" || len(mails) == 0 {
		return mails, nil
	}
	var all []id.SinkMail
	for chunk := range slices.Chunk(mails, chunkMails) {
		list, args := db.In(2, chunk)
		some, err := db.Collect(ctx, s.db, scanID, selectOwn+list, append([]any{project}, args...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// The bounds of the indexes of projects in a process: how many there are, and their octets together as a share of those that the index of
// all mail may have. An index is loaded again when it is needed, which takes milliseconds for a thousand mails.
const (
	indexesMax    = 500
	indexesShare  = 2
	entryOverhead = 400 // octets of an entry beside its texts
)

// indexes are the indexes of projects, the one that was used last at the end.
type indexes struct {
	mu  sync.Mutex // guards all
	all []*index
}

// indexOf returns the index for the project of ctx, or the one of all mail. It drops those that were used least recently if there are too
// many.
func (s *Service) indexOf(ctx context.Context) *index {
	project := ProjectOf(ctx)
	if project == "" {
		return &s.index
	}
	s.indexes.mu.Lock()
	defer s.indexes.mu.Unlock()
	all := s.indexes.all
	at := slices.IndexFunc(all, func(x *index) bool { return x.project == project })
	x := &index{project: project, textMax: s.index.textMax / indexesShare}
	if at >= 0 {
		x = all[at]
		all = slices.Delete(all, at, at+1)
	}
	octets := x.size()
	for i, other := range slices.Backward(all) {
		if octets += other.size(); octets > s.index.textMax/indexesShare || len(all)-i >= indexesMax {
			all = slices.Delete(all, 0, i+1)
			break
		}
	}
	s.indexes.all = append(all, x)
	return x
}

// size returns about how many octets the index takes.
func (x *index) size() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.textSize + len(x.entries)*entryOverhead
}
