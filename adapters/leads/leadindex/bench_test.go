package leadindex_test

import (
	"fmt"
	"runtime"
	"testing"

	"holdco/adapters/leads/leadindex"
	"holdco/domain/id"
	"holdco/domain/lead"
)

const million = 1_000_000

// BenchmarkBuild reads a million leads. The time without the index is that of making them up.
func BenchmarkBuild(b *testing.B) {
	b.Run("without the index", func(b *testing.B) {
		p := newPlenty(million)
		for b.Loop() {
			for one := range p.last(1) {
				p.mark(one)
			}
		}
	})
	b.Run("with the index", func(b *testing.B) {
		p := newPlenty(million)
		before := heap()
		var index *leadindex.Index
		for b.Loop() {
			index = built(b, p)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
		b.ReportMetric(float64(index.Status().Bytes)/(1<<20), "MB-reported")
	})
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func built(b *testing.B, p *plenty) *leadindex.Index {
	b.Helper()
	index := leadindex.New(p)
	if _, err := index.Follow(b.Context()); err != nil {
		b.Fatal(err)
	}
	return index
}

// BenchmarkFollow takes over a batch in an index of a million leads.
func BenchmarkFollow(b *testing.B) {
	for name, change := range map[string]func(*plenty){
		"new leads":     func(p *plenty) { p.add(batch) },
		"changed leads": func(p *plenty) { p.change(batch) },
	} {
		b.Run(name, func(b *testing.B) {
			p := newPlenty(million)
			index := built(b, p)
			for b.Loop() {
				b.StopTimer()
				change(p)
				b.StartTimer()
				if _, err := index.Follow(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSearch finds a page of 100 among a million leads, of which a few thousands have been dead for a while.
func BenchmarkSearch(b *testing.B) {
	p := newPlenty(million)
	p.change(batch)
	index := built(b, p)
	p.change(batch)
	if _, err := index.Follow(b.Context()); err != nil {
		b.Fatal(err)
	}
	rating, website := lead.Rating(380), true
	filter := lead.Filter{Industries: []id.Industry{names.industries[3]}, MinRating: &rating, HasWebsite: &website}
	recent := filter
	recent.Since = instantOf(400)
	lists := filter
	lists.Industries, lists.Verticals = names.industries[:15], names.verticals[20:120]
	all, err := index.Search(b.Context(), lead.Query{Filter: filter, Size: 1})
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]lead.Query{
		"all, first page":                    {},
		"all, last page":                     {Skip: million - 100},
		"three filters, first page":          {Filter: filter},
		"three filters, last page":           {Filter: filter, Skip: all.Total - 100},
		"three filters, since, after":        {Filter: recent, After: lead.Place{UpdatedAt: instantOf(450), ID: "cmp_5"}},
		"three filters, never asked before":  {Filter: filter, Skip: -1},
		"lists, never asked before":          {Filter: lists, Skip: -2},
		"created before, never asked before": {Filter: lead.Filter{CreatedBefore: instantOf(400)}, Skip: -3},
		"a domain, never asked before":       {Skip: -4},
	} {
		b.Run(fmt.Sprintf("%s of %d", name, all.Total), func(b *testing.B) {
			b.ReportAllocs()
			query.Size = 100
			fresh := -query.Skip
			query.Skip = max(query.Skip, 0)
			for n := 0; b.Loop(); n++ {
				bound := lead.Rating(n % 501)
				switch fresh {
				case 1:
					query.Filter.Industries = names.industries[n%20 : n%20+1]
					vertical := n%20 + 20*(n/20%10)
					query.Filter.Verticals = names.verticals[vertical : vertical+1]
					query.Filter.MinRating = &bound
				case 2:
					query.Filter.MinRating = &bound
				case 3:
					query.Filter.CreatedBefore = instantOf(n)
				case 4:
					query.Filter.Domain = fmt.Sprintf("%d.example", n)
				}
				if _, err := index.Search(b.Context(), query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
