package catalog

import (
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Efforts are the words for how hard a model is asked to think, the least first.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high"} }

// leastBudget is the fewest tokens of thinking that are worth a request for them: providers
// refuse less, but for a model that cannot be kept from thinking.
const leastBudget = 1024

// An effortRule is a line of efforts.csv.
type effortRule struct {
	values []llm.Effort // one for each of Efforts
	models []string     // beginnings of names
}

// EffortOf returns what a request says so that the model thinks as hard as one of [Efforts]
// says, in a reply of at most that many tokens; 0 if that is not stated. It says nothing where
// the word is none of them, where the model cannot be asked, or where the reply has no room
// for both thinking and an answer.
func (c Catalog) EffortOf(model, word string, output int) llm.Effort {
	at := slices.Index(Efforts(), word)
	m, _ := c.Lookup(model)
	if at < 0 || !m.Capabilities.Reasoning {
		return llm.Effort{}
	}
	var best llm.Effort
	length := 0
	c.undecorated(m.ID, func(name string) bool {
		for _, r := range c.efforts {
			for _, text := range r.models {
				if len(text) > length && begins(name, text) {
					best, length = r.values[at], len(text)
				}
			}
		}
		return length > 0
	})
	if best.Budget > leastBudget && output > 0 {
		best.Budget = min(best.Budget, output/2)
	}
	if output > 0 && best.Budget >= output || best.Budget > 0 && word != "none" && best.Budget < leastBudget {
		return llm.Effort{}
	}
	return best
}

// readEffort reads a line of efforts.csv.
func (c *Catalog) readEffort(r *row) {
	rule := effortRule{models: r.list(6)}
	form := r.text(0)
	if form != "budget" && form != "effort" {
		r.fail("form", "budget or effort", strconv.Quote(form))
	}
	for i := range Efforts() {
		var e llm.Effort
		switch text := r.text(1 + i); {
		case text == "":
		case text == "off":
			e.Off = true
		case form == "budget":
			e.Budget = r.number(1 + i)
		default:
			e.Word = text
		}
		rule.values = append(rule.values, e)
	}
	c.efforts = append(c.efforts, rule)
}
