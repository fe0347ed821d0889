package inbound

import (
	"context"
	"crypto/ed25519"
	"sync"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
)

// Activity shows the activity log: what happened, as it was recorded. Where a company is asked for, its filter names it, and Read is
// needed in it; it must exist. Without one, all companies and the instance are meant, and Admin is needed.
type Activity interface {
	// Get returns an entry of a company, or fault.NotFound.
	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Entry) (event.Entry, error)

	// List returns a page of the entries that match: newest first. A page can have fewer than size, even none, while another follows.
	List(ctx context.Context, caller access.Caller, filter event.Filter, after page.Position, size int) (page.Page[event.Entry], error)

	// Export chains what was committed, and begins an export of the chained entries that match: oldest first. If after is not empty,
	// it begins after the entry with that id, and fails with fault.InvalidCursor, whose detail "oldest" is what after may be to begin
	// with the oldest, if there is none.
	Export(ctx context.Context, caller access.Caller, filter event.Filter, after string) (ActivityExport, error)

	// Follow begins a stream of the entries of a company: those that come after a place of an earlier stream, or after what there is
	// now if the place is empty. It fails with fault.InvalidCursor if the place is not one of this company, or what stood there was
	// removed; and with fault.Unavailable when there are too many streams.
	Follow(ctx context.Context, caller access.Caller, of id.Company, place string) (ActivityStream, error)

	// Head chains what was committed, and returns the end of the chain of a company, or, if of is nil, of the entries without a
	// company, signed with the instance's key. Nil and not empty, because a path with what is no id has an empty one.
	Head(ctx context.Context, caller access.Caller, of *id.Company) (audit.Signed, error)

	// Verify follows a chain from its start to its end, that of the entries without a company if of is empty, and returns what is
	// right of it. It fails with an audit.Finding for the first entry that was changed, removed or inserted, and when the chain does
	// not have the links that are known from elsewhere. What was removed because it was old enough is none, if what stands for it is signed
	// by the instance, or by one of some keys, such as those that it had before. An entry is in its chain at most 2 seconds after its
	// commit; later ones are not looked at.
	Verify(ctx context.Context, caller access.Caller, of id.Company, keys []ed25519.PublicKey, known ...audit.Link) (audit.Verified, error)
}

// ActivityExport calls take with portion after portion, until that fails or there are no more.
type ActivityExport func(take func(entries []ChainedEntry) error) error

// ChainedEntry is an entry with its link in the chain of its company.
type ChainedEntry struct {
	event.Entry
	audit.Link
}

// ActivityStream calls take with entries in the order of their commits, each once, until that fails, ctx is done, the server stops,
// or the taker is too slow. The taker keeps nothing of what it gets. There can be no portion: then nothing came for a second. The first
// can be one entry without content, whose place is where the stream begins.
type ActivityStream func(ctx context.Context, take func(portions []StreamedPortion) error) error

// StreamedPortion is entries that go out together. Streams of a company share it.
type StreamedPortion struct {
	Entries []StreamedEntry

	shared *spelled
}

// StreamedEntry is an entry with its place, from which a stream can go on.
type StreamedEntry struct {
	Place string
	Entry *event.Entry // nil: the place alone
}

// spelled is what a portion was made into.
type spelled struct {
	once sync.Once
	text []byte
}

// Streamed returns a portion for streams.
func Streamed(entries []StreamedEntry) StreamedPortion { return StreamedPortion{entries, &spelled{}} }

// Spelled returns what spell makes of the entries, which all streams that share them get: it is made once, and nobody may change it.
func (p StreamedPortion) Spelled(spell func(entries []StreamedEntry) []byte) []byte {
	p.shared.once.Do(func() { p.shared.text = spell(p.Entries) })
	return p.shared.text
}
