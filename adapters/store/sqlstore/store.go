package sqlstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Store implements store.Store on an engine.
type Store struct {
	reader
	ids      outbound.IDs
	migrator *Migrator
	outgoing chan struct{} // see Outgoing
	raised   *listeners    // see Raised
	recorded *listeners    // see Recorded
}

var _ store.Store = (*Store)(nil)

// New makes a store on an engine. The migrator checks whether the database has the schema that this program needs.
func New(engine Engine, clock outbound.Clock, ids outbound.IDs, migrator *Migrator) *Store {
	return &Store{
		reader: reader{session{
			engine: engine, statements: &statements{engine: engine}, conn: engine.Conn(), autocommit: true,
			clocks: clocks{process: clock},
		}},
		ids:      ids,
		migrator: migrator,
		outgoing: make(chan struct{}, 1),
		raised:   &listeners{},
		recorded: &listeners{},
	}
}

// Observed returns the same store, which reports every access to observers.
func (s *Store) Observed(by ...Observer) *Store {
	observed := *s
	observed.observers = by
	return &observed
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, read func(ctx context.Context, r store.Reader) error) error {
	return s.observers.watch(ctx, View, func(ctx context.Context) error {
		err := s.engine.View(ctx, func(ctx context.Context, conn bun.IConn) error {
			return read(ctx, reader{s.on(conn)})
		})
		return s.failure(ctx, err)
	})
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	return s.observers.watch(ctx, Update, func(ctx context.Context) error { return s.update(ctx, write) })
}

func (s *Store) update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	var state *unitState // of the last run
	err := s.engine.Update(ctx, func(ctx context.Context, conn bun.IConn) error {
		state = newUnitState()
		unit := tx{session: s.on(conn), ids: s.ids}
		unit.unit = state
		if err := write(ctx, unit); err != nil {
			return err
		}
		return state.checkRecorded()
	})
	if err == nil && state.sends {
		notify(s.outgoing)
	}
	if err == nil && state.raises {
		s.raised.notify()
	}
	if err == nil && state.logs {
		s.recorded.notify()
	}
	return s.failure(ctx, err)
}

// notify sends a value, unless the last one has not been received yet.
func notify(of chan<- struct{}) {
	select {
	case of <- struct{}{}:
	default:
	}
}

// Raised implements store.Store.
func (s *Store) Raised(into chan<- struct{}) { s.raised.add(into) }

// Recorded implements store.Store.
func (s *Store) Recorded(into chan<- struct{}) { s.recorded.add(into) }

// listeners are channels that are notified together.
type listeners struct {
	mutex sync.Mutex
	all   []chan<- struct{}
}

func (l *listeners) add(one chan<- struct{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = append(l.all, one)
}

func (l *listeners) notify() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, one := range l.all {
		notify(one)
	}
}

// Outgoing implements store.Store.
func (s *Store) Outgoing() <-chan struct{} { return s.outgoing }

// Ready implements store.Store.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.migrator.current(ctx); err != nil {
		return s.failure(ctx, err)
	}
	return s.failure(ctx, s.engine.Ready(ctx))
}

// Tidy implements store.Store.
func (s *Store) Tidy(ctx context.Context) (more bool, err error) {
	more, err = s.engine.Tidy(ctx)
	return more, s.failure(ctx, err)
}

// Sizes implements store.Store.
func (s *Store) Sizes(ctx context.Context) (store.Sizes, error) {
	sizes, err := s.engine.Sizes(ctx)
	return sizes, s.failure(ctx, err)
}

// reader implements store.Reader on the database as its session sees it.
type reader struct{ session }

func (r reader) Companies() store.CompanyReader       { return companiesOf(r.session) }
func (r reader) Teams() store.TeamReader              { return teamsOf(r.session) }
func (r reader) Agents() store.AgentReader            { return agentsOf(r.session) }
func (r reader) Issues() store.IssueReader            { return issuesOf(r.session) }
func (r reader) Runs() store.RunReader                { return runsOf(r.session) }
func (r reader) Envelopes() store.EnvelopeReader      { return envelopes(r) }
func (r reader) Settlements() store.SettlementReader  { return settlementsOf(r.session) }
func (r reader) Costs() store.CostReader              { return costsOf(r.session) }
func (r reader) Goals() store.GoalReader              { return goalsOf(r.session) }
func (r reader) Workflows() store.WorkflowReader      { return workflowsOf(r.session) }
func (r reader) Projects() store.ProjectReader        { return projectsOf(r.session) }
func (r reader) Tokens() store.TokenReader            { return tokensOf(r.session) }
func (r reader) Sessions() store.SessionReader        { return sessionsOf(r.session) }
func (r reader) Partners() store.PartnerReader        { return partnersOf(r.session) }
func (r reader) Activity() store.ActivityReader       { return activity(r) }
func (r reader) Webhooks() store.WebhookReader        { return webhooksOf(r.session, time.Time{}) }
func (r reader) Deliveries() store.DeliveryReader     { return deliveries(r) }
func (r reader) Outbox() store.OutboxReader           { return outbox{session: r.session} }
func (r reader) Removals() store.RemovalReader        { return removals(r) }
func (r reader) InstanceKey() store.InstanceKeyReader { return instanceKey(r) }
func (r reader) Leads() store.LeadReader              { return leads{session: r.session} }
func (r reader) Campaigns() store.CampaignReader      { return campaignsOf(r.session) }
func (r reader) Taxonomy() store.TaxonomyReader       { return taxonomy(r) }
func (r reader) Imports() store.ImportReader          { return importsOf(r.session) }
func (r reader) Prices() store.PriceReader            { return prices(r) }

func (r reader) Approvals() store.ApprovalReader         { return approvalsOf(r.session) }
func (r reader) ApprovalRules() store.ApprovalRuleReader { return approvalRulesOf(r.session) }
func (r reader) Secrets() store.SecretReader             { return secretsOf(r.session) }
func (r reader) Seals() store.SealReader                 { return seals(r) }
func (r reader) Checks() store.CheckReader               { return checks(r) }
func (r reader) Retention() store.RetentionReader        { return keeping(r) }
func (r reader) Dashboards() store.DashboardReader       { return dashboards(r) }
func (r reader) Backups() store.BackupReader             { return backupsOf(r.session) }
func (r reader) Replicas() store.ReplicaReader           { return replicasOf(r.session) }

// tx implements store.Tx for one run of one unit.
type tx struct {
	session
	ids outbound.IDs
}

// Now reads the clock when it is first called, so that a unit that waited for its turn is not earlier than the one before it.
func (t tx) Now() time.Time {
	if t.unit.now.IsZero() {
		t.unit.now = t.clocks.process.Now()
	}
	return t.unit.now
}

func (t tx) Companies() store.Companies     { return companiesOf(t.session) }
func (t tx) Teams() store.Teams             { return teamsOf(t.session) }
func (t tx) Agents() store.Agents           { return agentsOf(t.session) }
func (t tx) Issues() store.Issues           { return issuesOf(t.session) }
func (t tx) Runs() store.Runs               { return runsOf(t.session) }
func (t tx) Envelopes() store.Envelopes     { return envelopes{t.session} }
func (t tx) Settlements() store.Settlements { return settlementsOf(t.session) }
func (t tx) Costs() store.CostReader        { return costsOf(t.session) }
func (t tx) Goals() store.Goals             { return goalsOf(t.session) }
func (t tx) Workflows() store.Workflows     { return workflowsOf(t.session) }
func (t tx) Projects() store.Projects       { return projectsOf(t.session) }
func (t tx) Tokens() store.Tokens           { return tokensOf(t.session) }
func (t tx) Sessions() store.Sessions       { return sessionsOf(t.session) }
func (t tx) Partners() store.Partners       { return partnersOf(t.session) }
func (t tx) Activity() store.Activity       { return activity{t.session} }
func (t tx) Receipts() store.Receipts       { return receipts{t.session, t.Now()} }
func (t tx) Webhooks() store.Webhooks       { return webhooksOf(t.session, t.Now()) }
func (t tx) Deliveries() store.Deliveries   { return deliveries{t.session} }
func (t tx) Outbox() store.Outbox           { return outbox{t.session, t.Now()} }
func (t tx) Removals() store.Removals       { return removals{t.session} }
func (t tx) InstanceKey() store.InstanceKey { return instanceKey{t.session} }
func (t tx) Leads() store.Leads             { return leads{t.session, t.Now()} }
func (t tx) Campaigns() store.Campaigns     { return campaignsOf(t.session) }
func (t tx) Taxonomy() store.Taxonomy       { return taxonomy{t.session} }
func (t tx) Imports() store.Imports         { return importsOf(t.session) }
func (t tx) Prices() store.Prices           { return prices{t.session} }

func (t tx) Approvals() store.Approvals         { return approvalsOf(t.session) }
func (t tx) ApprovalRules() store.ApprovalRules { return approvalRulesOf(t.session) }
func (t tx) Secrets() store.Secrets             { return secretsOf(t.session) }
func (t tx) Seals() store.Seals                 { return seals{t.session} }
func (t tx) Checks() store.Checks               { return checks{t.session} }
func (t tx) Backups() store.Backups             { return backupsOf(t.session) }
func (t tx) Replicas() store.Replicas           { return replicasOf(t.session) }
func (t tx) Retention() store.Retention         { return keeping{t.session} }

var errTurn = errors.New("a unit of work takes the turn of one company, or is on a snapshot, before it reads or writes anything")

func (t tx) Turn(ctx context.Context, company id.Company) error {
	if t.unit.used {
		return errTurn
	}
	t.unit.used = true
	return t.failure(ctx, t.engine.Turn(ctx, t.conn, string(company)))
}

func (t tx) OnSnapshot(context.Context) error {
	if t.unit.used {
		return errTurn
	}
	t.unit.used = true
	t.engine.OnSnapshot(t.conn)
	return nil
}

func (t tx) Record(ctx context.Context, happened event.Event) error {
	return activity{t.session}.add(ctx, happened, t.ids, t.Now())
}

func (t tx) Unrecorded() { t.unit.recorded = true }

// unitState is what the store has to know about a unit of work while it runs.
type unitState struct {
	changed  bool              // business rows were written
	recorded bool              // an event was recorded, or Unrecorded was called
	used     bool              // a statement has run, or a turn was taken
	now      time.Time         // see tx.Now; zero: it was not called
	sends    bool              // the unit made work for webhooks: see Outgoing
	logs     bool              // an event was recorded: see Recorded
	raises   bool              // the unit raised a work revision: see Raised
	locked   map[rowKey]any    // the aggregates that the unit has locked, with what it saved since
	read     map[rowKey]bool   // other rows that the unit has read: see session.changeReadLater
	revision lead.Revision     // of the unit's changes to leads; 0: Advance was not called
	keys     map[id.Lead]int64 // of the leads that the unit has looked up; 0: there is no such lead
}

func newUnitState() *unitState {
	return &unitState{locked: map[rowKey]any{}, read: map[rowKey]bool{}, keys: map[id.Lead]int64{}}
}

// hasRead reports whether the unit has read a row, and so knows that it is there.
func (u *unitState) hasRead(row rowKey) bool { return u.read[row] || u.locked[row] != nil }

var errUnrecorded = errors.New("a unit of work changed rows, but recorded no event")

// checkRecorded fails if the unit changed rows without recording an event.
func (u *unitState) checkRecorded() error {
	if u.changed && !u.recorded {
		return errUnrecorded
	}
	return nil
}
