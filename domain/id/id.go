package id

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// The types of ids, which the compiler keeps apart. The empty string is no id, and no store finds it.
type (
	Company string // cmp_
	Team    string // tm_
	Slot    string // slt_
	Agent   string // agt_
	Issue   string // iss_
	Comment string // cmt_
	Run     string // run_
	Lease   string // lse_
	Cost    string // cst_
	Token   string // tok_
	Entry   string // act_, an entry of the activity log
	Request string // req_

	Session   string // ses_, of a person in a browser
	LoginCode string // lgc_, never shown

	Settlement string // stl_, never shown
	Replica    string // rep_, a server

	Goal         string // gl_
	Project      string // prj_
	Workflow     string // wf_
	Approval     string // apr_
	ApprovalRule string // apl_

	Webhook  string // whk_
	Delivery string // dlv_

	Partner string // prt_

	Secret string // sec_, never shown: clients name secrets

	Lead         string // cmp_: a lead is a company too, though not one of Holdco's
	Contact      string // cnt_
	Campaign     string // cam_
	Industry     string // ind_
	Vertical     string // vrt_
	Geography    string // geo_
	Import       string // imp_
	Suppression  string // sup_, of leads
	Intelligence string // vin_
)

// ID is any of the id types.
type ID interface {
	~string
	prefix() string
}

func (Company) prefix() string { return "cmp_" }
func (Team) prefix() string    { return "tm_" }
func (Slot) prefix() string    { return "slt_" }
func (Agent) prefix() string   { return "agt_" }
func (Issue) prefix() string   { return "iss_" }
func (Comment) prefix() string { return "cmt_" }
func (Run) prefix() string     { return "run_" }
func (Lease) prefix() string   { return "lse_" }
func (Cost) prefix() string    { return "cst_" }
func (Token) prefix() string   { return "tok_" }
func (Entry) prefix() string   { return "act_" }
func (Request) prefix() string { return "req_" }

func (Session) prefix() string   { return "ses_" }
func (LoginCode) prefix() string { return "lgc_" }

func (Settlement) prefix() string { return "stl_" }
func (Replica) prefix() string    { return "rep_" }

func (Goal) prefix() string         { return "gl_" }
func (Project) prefix() string      { return "prj_" }
func (Workflow) prefix() string     { return "wf_" }
func (Approval) prefix() string     { return "apr_" }
func (ApprovalRule) prefix() string { return "apl_" }

func (Webhook) prefix() string  { return "whk_" }
func (Delivery) prefix() string { return "dlv_" }

func (Partner) prefix() string { return "prt_" }

func (Secret) prefix() string { return "sec_" }

func (Lead) prefix() string         { return "cmp_" }
func (Contact) prefix() string      { return "cnt_" }
func (Campaign) prefix() string     { return "cam_" }
func (Industry) prefix() string     { return "ind_" }
func (Vertical) prefix() string     { return "vrt_" }
func (Geography) prefix() string    { return "geo_" }
func (Import) prefix() string       { return "imp_" }
func (Suppression) prefix() string  { return "sup_" }
func (Intelligence) prefix() string { return "vin_" }

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	length   = 26 // 128 bits in groups of 5, with two zero bits in front
)

// New encodes the 16 bytes of a UUIDv7 as an id.
func New[I ID](uuid [16]byte) I {
	var kind I
	high, low := binary.BigEndian.Uint64(uuid[:8]), binary.BigEndian.Uint64(uuid[8:])
	var digits [length]byte
	for i := length - 1; i >= 0; i-- {
		digits[i] = alphabet[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return I(kind.prefix() + string(digits[:]))
}

// Time returns when an id was made, by the clock of its maker, to the millisecond. The id must be one of New.
func Time[I ID](of I) time.Time {
	var ms int64 // the first 48 bits of a UUIDv7, which are ten digits
	for _, digit := range []byte(string(of)[len(of.prefix()):][:10]) {
		ms = ms<<5 | int64(strings.IndexByte(alphabet, digit))
	}
	return time.UnixMilli(ms).UTC()
}

// Parse parses an id, and reports whether it is one of this kind. If not, it returns the empty id.
func Parse[I ID](text string) (I, bool) {
	var kind I
	digits, found := strings.CutPrefix(text, kind.prefix())
	if !found || len(digits) != length || digits[0] > '7' || strings.Trim(digits, alphabet) != "" {
		return "", false
	}
	return I(text), true
}

// ForeignLength bounds the part after the prefix of an id that was made elsewhere.
const ForeignLength = 64

// ParseForeign parses an id that may have been made elsewhere, and reports whether it is one of this kind: the prefix,
// and 1 to ForeignLength ASCII letters, digits, hyphens and underscores. If not, it returns the empty id.
func ParseForeign[I ID](text string) (I, bool) {
	var kind I
	rest, found := strings.CutPrefix(text, kind.prefix())
	if !found || rest == "" || len(rest) > ForeignLength {
		return "", false
	}
	for i := range len(rest) {
		if c := rest[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return "", false
		}
	}
	return I(text), true
}

// Prefix is what ids of this kind begin with.
func Prefix[I ID]() string {
	var kind I
	return kind.prefix()
}

// Derive makes an id from content: the same parts give the same id. No part may contain a NUL.
func Derive[I ID](parts ...string) I {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return New[I]([16]byte(sum[:16]))
}

// Source supplies the bytes of new ids: UUIDv7s in ascending order.
type Source interface {
	UUIDv7() [16]byte
}
