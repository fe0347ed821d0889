package usage

import (
	"fmt"

	"holdco/domain/cost"
	"holdco/domain/fault"
)

// holdcoForm reads lines that are written for Holdco. A charge that is written twice under one key counts once; another one under
// that key is dropped.
type holdcoForm struct {
	outcome

	charges []cost.Draft
	entries map[string]cost.Entry // of the charges, by their keys
}

func (*holdcoForm) marks() (object, charge string) { return `"holdco"`, `"holdco"` }

func (h *holdcoForm) read(fields objectFields) bool {
	if fields.get("holdco") == nil {
		return true
	}
	sent, _ := fields.object("holdco")
	var problems fault.Problems
	charge := cost.DraftFromJSON("cost", sent.get("cost"), &problems)
	if charge.Key == nil {
		charge.Key = new(h.nextKey())
	}
	entries := cost.Parse([]cost.Draft{charge}, nil, &problems)
	if len(problems) > 0 {
		return false
	}
	if former, found := h.entries[*charge.Key]; found {
		return former.IsSame(entries[0])
	}
	if len(h.charges) >= MostCharges {
		return false
	}
	h.charges, h.entries[*charge.Key] = append(h.charges, charge), entries[0]
	return true
}

// nextKey is the key of the next charge if it has none of its own.
func (h *holdcoForm) nextKey() string {
	for n := len(h.charges) + 1; ; n++ {
		key := fmt.Sprintf("%s-%d", usageKey, n)
		if _, found := h.entries[key]; !found {
			return key
		}
	}
}

func (h *holdcoForm) shown() shown { return shown{charges: h.charges} }
