package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// sumNames are what sessions can be summed up by.
func sumNames() []string { return []string{"day", "month", "block", "model", "project"} }

// A sessionSum is what the sessions of one day, month, block, model or project took.
type sessionSum struct {
	Name     string
	Sessions int
	inspect.BriefSum
	order int64
}

// sumsBy sums up sessions, the newest time first, else the dearest first.
func sumsBy(what string, all []known) []sessionSum {
	s := summing{at: map[string]int{}, seen: map[string]map[int]bool{}}
	if what == "block" {
		s.blocks = blocksOf(all)
	}
	for i, k := range all {
		for _, h := range k.Hours {
			name, order := s.name(what, k, h)
			s.add(i, name, order, h.BriefSum)
		}
	}
	slices.SortStableFunc(s.sums, func(a, b sessionSum) int {
		return cmp.Or(cmp.Compare(b.order, a.order), cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return s.sums
}

type summing struct {
	sums   []sessionSum
	at     map[string]int          // positions in sums
	seen   map[string]map[int]bool // sessions that are in each
	blocks map[int64]int64         // hour by hour, the one that its block began with
}

func (s *summing) add(session int, name string, order int64, sum inspect.BriefSum) {
	i, ok := s.at[name]
	if !ok {
		i, s.at[name] = len(s.sums), len(s.sums)
		s.sums, s.seen[name] = append(s.sums, sessionSum{Name: name, order: order}), map[int]bool{}
	}
	s.sums[i].Add(sum)
	if !s.seen[name][session] {
		s.seen[name][session] = true
		s.sums[i].Sessions++
	}
}

// noTime names what nobody knows the time of.
const noTime = "no time"

// name returns in which sum the calls of an hour are, and how these are ordered.
func (s *summing) name(what string, k known, h inspect.Hour) (name string, order int64) {
	switch what {
	case "model":
		return cmp.Or(h.Model, "no model named"), 0
	case "project":
		return cmp.Or(console.Homely(k.Project), "no folder named"), 0
	}
	if h.Hour == 0 {
		return noTime, 0
	}
	if what == "block" {
		h.Hour = s.blocks[h.Hour]
	}
	at := time.Unix(h.Hour*3600, 0).UTC()
	form := map[string]string{"day": time.DateOnly, "month": "2006-01", "block": "2006-01-02 15:04"}[what]
	name = at.Format(form)
	first, _ := time.Parse(form, name)
	return name, first.Unix()
}

// blockHours is how long a block lasts, after which clients with a limit of use begin another
// one with the next call.
const blockHours = 5

// blocksOf returns for each hour with a call the hour that its block began with.
func blocksOf(all []known) map[int64]int64 {
	var hours []int64
	for _, k := range all {
		for _, h := range k.Hours {
			hours = append(hours, h.Hour)
		}
	}
	slices.Sort(hours)
	out, first := map[int64]int64{}, int64(0)
	for _, h := range hours {
		if first == 0 || h >= first+blockHours {
			first = h
		}
		out[h] = first
	}
	return out
}
