package lead

import (
	"time"

	"holdco/domain/id"
)

// Query asks for a page of leads.
type Query struct {
	Filter    Filter
	After     Place // the page starts after this place
	Skip      int64 // how many leads after After to skip, 0 or more
	Size      int   // maximum number of leads; 0: the page has State and Total alone, and no lead is read
	Bytes     int64 // maximum size of the documents together, see Room; 0: however large
	Uncounted bool  // do not count the total, which may be expensive
}

// Page is one page of leads.
type Page struct {
	State State // of the snapshot that was read
	Leads []Exported
	Total int64 // leads that the filter matches; 0 when Uncounted
	More  bool  // whether there are leads after the page; not told with Size 0
}

// Room is what a page still has room for: documents of so many bytes together, but always for the first of them.
type Room struct {
	bounded bool
	left    int64
	taken   bool // a document
}

// RoomFor is the room of a page of so many bytes; 0: of any number.
func RoomFor(bytes int64) Room { return Room{bounded: bytes > 0, left: bytes} }

// Take takes a document of some size, or reports that there is no room for it. Small differences do not matter: how a store keeps
// documents may count.
func (r *Room) Take(size int64) bool {
	if r.bounded && r.taken && size > r.left {
		return false
	}
	r.left -= size
	r.taken = true
	return true
}

// RemovedQuery asks for a page of removed leads.
type RemovedQuery struct {
	Since time.Time // zero: from the first on
	View  View      // those alone that it showed when they were removed
	After Place     // the page starts after this lead, with the instant of its removal
	Skip  int64
	Size  int
}

// RemovedPage is one page of removed leads.
type RemovedPage struct {
	State State
	Leads []RemovedLead
	Total int64
	More  bool
}

// RemovedLead is what the store keeps of a lead that was removed, so that partners who keep copies learn of it.
type RemovedLead struct {
	ID        id.Lead
	RemovedAt time.Time
}

// CampaignQuery asks for one page.
type CampaignQuery struct {
	Filter CampaignFilter
	After  CampaignPlace
	Skip   int64
	Size   int
}

// CampaignPage is one page.
type CampaignPage struct {
	State     State
	Campaigns []Campaign
	Total     int64
	More      bool
}
