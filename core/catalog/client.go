package catalog

import "strings"

// An Overhead is what a client sends beside the conversation that it records,
// in tokens. It is an assumption: see the table for what it rests on.
type Overhead struct {
	Client  string
	Low     int // least seen
	Typical int
	High    int // most seen

	version string // prefix of the version; empty: any
	family  string // of the model; empty: any
}

// OverheadOf returns the overhead of a client such as "claude-code", at a
// version of it and with a model of a family, either of which may be empty. It
// is the first line of the table that fits all three.
func (c Catalog) OverheadOf(client, version, family string) (Overhead, bool) {
	for _, o := range c.clients {
		if o.Client == client && strings.HasPrefix(version, o.version) && (o.family == "" || o.family == family) {
			return o, true
		}
	}
	return Overhead{}, false
}
