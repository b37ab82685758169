package sink

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// Tags are words by which a list can be searched (docs/spec/mailpit.md#tags). Two tags that differ in case alone are the same
// tag.

// The bounds of tags.
const (
	tagMax    = 100  // characters of a tag, as in Mailpit
	TagsMax   = 20   // tags of a mail
	tagsShown = 1000 // different tags that an index counts, and Tags returns
)

// notInTags matches what Mailpit replaces by a space.
var notInTags = regexp.MustCompile(`[^a-zA-Z0-9\-_.@]+`)

// CleanTag returns a text as a tag: with runs of characters that are not allowed replaced by a space, and cut. "" is no tag.
func CleanTag(text string) string {
	text = strings.TrimSpace(notInTags.ReplaceAllString(text, " "))
	return strings.TrimSpace(text[:min(len(text), tagMax)])
}

// cleanTags returns texts as tags, sorted and each once.
func cleanTags(texts []string) (tags []string) {
	for _, text := range texts {
		if tag := CleanTag(text); tag != "" && !hasTag(tags, tag) {
			tags = append(tags, tag)
		}
	}
	slices.SortFunc(tags, compareTags)
	return tags
}

func hasTag(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

func compareTags(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

// textsMax bounds the texts of a mail that may become tags, so that a sender cannot make us compare many.
const textsMax = 1000

// tagsOf returns the tags with which a mail arrives: those of its field X-Tags, and those of the addresses of its sender and its
// recipients, of which bcc are in no header field.
func tagsOf(c *message.Content, bcc []message.Address) []string {
	var texts []string
	if i := slices.IndexFunc(c.Headers, func(h message.Header) bool { return strings.EqualFold(h.Name, "X-Tags") }); i >= 0 {
		texts = strings.SplitN(c.Headers[i].Value, ",", textsMax)
	}
	for _, list := range [][]message.Address{c.To, c.CC, bcc, {c.From}} {
		for _, a := range list[:min(len(list), listMax)] {
			local, _, _ := strings.Cut(a.Address, "@")
			if _, plus, found := strings.Cut(local, "+"); found && len(texts) < textsMax {
				texts = append(texts, strings.SplitN(plus, "+", textsMax)...)
			}
		}
	}
	tags := cleanTags(texts[:min(len(texts), textsMax)])
	return tags[:min(len(tags), TagsMax)]
}

// tagCounts counts the mails that have a tag. The keys are in lower case.
type tagCounts struct {
	counts map[string]tagCount
}

type tagCount struct {
	name  string // as it is shown
	mails int
}

// add adds n to the counts of tags. A tag beyond the first tagsShown is not counted.
func (t *tagCounts) add(tags []string, n int) {
	for _, name := range tags {
		key := strings.ToLower(name)
		c, known := t.counts[key]
		if !known && (n < 0 || len(t.counts) >= tagsShown) {
			continue
		}
		if n > 0 {
			c.name = name // the newest, so that a tag can be spelt otherwise
		}
		if c.mails += n; c.mails <= 0 {
			delete(t.counts, key)
			continue
		}
		if t.counts == nil {
			t.counts = make(map[string]tagCount)
		}
		t.counts[key] = c
	}
}

// Spell returns tags as other mails of the project of ctx, or all mails, have written them so far.
func (s *Service) Spell(ctx context.Context, tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	return s.indexOf(ctx).spell(tags)
}

// spell returns tags as the index writes those that it has.
func (x *index) spell(tags []string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	spelt := make([]string, len(tags))
	for i, tag := range tags {
		spelt[i] = tag
		if c, known := x.tags.counts[strings.ToLower(tag)]; known {
			spelt[i] = c.name
		}
	}
	return spelt
}

// Tags returns how many mails of the project of ctx, or of all mails, have each tag, of the first tagsShown tags.
func (s *Service) Tags(ctx context.Context) (map[string]int, error) {
	x := s.indexOf(ctx)
	if err := s.refresh(ctx, x); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	counts := make(map[string]int, len(x.tags.counts))
	for _, c := range x.tags.counts {
		counts[c.name] = c.mails
	}
	return counts, nil
}

// TagNames returns the tags of Tags, sorted.
func (s *Service) TagNames(ctx context.Context) ([]string, error) {
	counts, err := s.Tags(ctx)
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, compareTags)
	return names, err
}

// ParseTags returns the tags that the texts of a call become. The pointer names the texts in an error: request.invalid for more than
// TagsMax tags.
func ParseTags(pointer string, texts []string) ([]string, error) {
	if len(texts) <= textsMax {
		if tags := cleanTags(texts); len(tags) <= TagsMax {
			return tags, nil
		}
	}
	return nil, problem.Invalid(pointer, "must have at most %d tags", TagsMax)
}

// SetTags replaces the tags of mails by those that texts become. Unknown mails are ignored. It uses a transaction for each tagChunk
// mails, so after an error some may have the tags. Error: request.invalid for more than TagsMax tags.
func (s *Service) SetTags(ctx context.Context, mails []id.SinkMail, texts []string) error {
	tags, err := ParseTags("/Tags", texts)
	if err != nil {
		return err
	}
	if tags, err = s.spellNow(ctx, tags); err != nil {
		return err
	}
	if mails, err = s.inScope(ctx, mails); err != nil {
		return err
	}
	return s.retag(ctx, mails, func(id.SinkMail, []string) []string { return tags })
}

// spellNow is Spell with what any process has committed so far.
func (s *Service) spellNow(ctx context.Context, tags []string) ([]string, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	x := s.indexOf(ctx)
	if err := s.refresh(ctx, x); err != nil {
		return nil, err
	}
	return x.spell(tags), nil
}

// TagMessages prepares to replace the tags of messages by tags of ParseTags, whatever the project of ctx. The returned function does it in the caller's transaction: the
// tags of a mail of the sink are those of all its messages, and a message elsewhere has its own.
func (s *Service) TagMessages(ctx context.Context, messages []message.Ref, tags []string) (apply func(context.Context, *db.Tx) error, err error) {
	mails, err := mailsOf(ctx, s.db, messages)
	if err != nil {
		return nil, err
	}
	spelt := make(map[id.Project][]string)
	tagsOf := make(map[id.SinkMail][]string)
	ofSink := make(map[message.Ref]bool)
	for _, m := range mails {
		if _, ok := spelt[m.project]; !ok {
			if spelt[m.project], err = s.spellNow(WithProject(ctx, m.project), tags); err != nil {
				return nil, err
			}
		}
		tagsOf[m.mail], ofSink[m.message] = spelt[m.project], true
	}
	elsewhere := slices.DeleteFunc(slices.Clone(messages), func(m message.Ref) bool { return ofSink[m] })
	return func(ctx context.Context, tx *db.Tx) error {
		if err := s.messages.TagManyTx(ctx, tx, elsewhere, tags); err != nil {
			return err
		}
		return s.retagTx(ctx, tx, slices.Sorted(maps.Keys(tagsOf)), func(mail id.SinkMail, _ []string) []string { return tagsOf[mail] })
	}, nil
}

// RenameTag renames a tag of all mails, or of those of the project of ctx. Errors: request.invalid if the new name is not a tag or is in use, message.not_found if no mail has the tag.
func (s *Service) RenameTag(ctx context.Context, from, to string) error {
	name := CleanTag(to)
	if name == "" {
		return problem.Invalid("/Name", "must be a tag: letters, digits and - _ . @")
	}
	mails, err := s.tagged(ctx, from)
	if err != nil {
		return err
	}
	if !strings.EqualFold(from, name) {
		if _, err := s.tagged(ctx, name); err == nil {
			return problem.Invalid("/Name", "the tag %q exists", name)
		} else if !problem.Has(err, problem.MessageNotFound) {
			return err
		}
	}
	return s.retag(ctx, mails, func(_ id.SinkMail, tags []string) []string { return cleanTags(append(withoutTag(tags, from), name)) })
}

// DeleteTag removes a tag from all mails, or from those of the project of ctx. Error: message.not_found if no mail has it.
func (s *Service) DeleteTag(ctx context.Context, tag string) error {
	mails, err := s.tagged(ctx, tag)
	if err != nil {
		return err
	}
	return s.retag(ctx, mails, func(_ id.SinkMail, tags []string) []string { return withoutTag(tags, tag) })
}

func withoutTag(tags []string, tag string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return strings.EqualFold(t, tag) })
}

// tagged returns the mails that have a tag. Error: message.not_found if none has.
func (s *Service) tagged(ctx context.Context, tag string) (mails []id.SinkMail, err error) {
	x := s.indexOf(ctx)
	if err := s.refresh(ctx, x); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, e := range x.entries {
		if !e.deleted && hasTag(e.Tags, tag) {
			mails = append(mails, e.id)
		}
	}
	if len(mails) == 0 {
		return nil, problem.New(problem.MessageNotFound)
	}
	return mails, nil
}

// tagChunk is how many mails get other tags in a transaction, each of which may have a hundred messages.
const tagChunk = 100

// retag gives each mail the tags that change returns for those that it has.
func (s *Service) retag(ctx context.Context, mails []id.SinkMail, change func(mail id.SinkMail, tags []string) []string) error {
	for chunk := range slices.Chunk(mails, tagChunk) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.retagTx(ctx, tx, chunk, change) })
		if err != nil {
			return fmt.Errorf("tag %d mails of the sink: %w", len(chunk), err)
		}
	}
	return nil
}

// retagTx is retag in a transaction. It locks messages before the row of sink_state, as deleting them does.
func (s *Service) retagTx(ctx context.Context, tx *db.Tx, mails []id.SinkMail, change func(mail id.SinkMail, tags []string) []string) error {
	if len(mails) == 0 {
		return nil
	}
	list, args := db.In(1, mails)
	stored, err := db.Collect(ctx, tx, scanTagged, selectTags+list, args...)
	if err != nil {
		return err
	}
	changed := make(map[string][]id.SinkMail) // by the tags that they get, as they are stored
	for _, m := range stored {
		text, err := encodeTags(change(m.id, m.tags))
		if err != nil {
			return err
		}
		if before, err := encodeTags(m.tags); err != nil || before == text {
			continue
		}
		changed[text] = append(changed[text], m.id)
	}
	if len(changed) == 0 {
		return nil
	}
	for text, mails := range changed {
		tags, err := decodeTags(text)
		if err != nil {
			return err
		}
		refs, err := copiesOf(ctx, tx, mails)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(refs, 2*chunkMails) {
			if err := s.messages.TagManyTx(ctx, tx, some, tags); err != nil {
				return err
			}
		}
	}
	number, err := changeTx(ctx, tx, 1)
	if err != nil {
		return err
	}
	for text, mails := range changed {
		list, args := db.In(3, mails)
		if _, err := tx.Exec(ctx, updateTags+list, append([]any{text, number}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// taggedRow is a mail with its tags.
type taggedRow struct {
	id   id.SinkMail
	tags []string
}

func scanTagged(r db.Row) (m taggedRow, err error) {
	var text string
	if err = r.Scan(&m.id, &text); err == nil {
		m.tags, err = decodeTags(text)
	}
	return m, err
}
