package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed models.csv
var modelsTable string

//go:embed families.csv
var familiesTable string

//go:embed prefixes.csv
var prefixesTable string

//go:embed clients.csv
var clientsTable string

//go:embed dialects.csv
var dialectsTable string

// A Catalog is the loaded data. It is immutable and safe for concurrent use;
// the zero Catalog knows nothing.
type Catalog struct {
	models   []Model  // by ID
	families []Family // as in the table
	prefixes []prefix // longest first
	clients  []Overhead
	dialects []Dialect
}

// A prefix says what the beginning of a model's name tells.
type prefix struct {
	text, family, encoding string
}

// Load reads the embedded tables. It takes well below a millisecond; keep what
// it returns. An error means that the tables themselves are faulty, which the
// tests of this package exclude.
func Load() (Catalog, error) {
	return parse(tables{modelsTable, familiesTable, prefixesTable, clientsTable, dialectsTable})
}

type tables struct{ models, families, prefixes, clients, dialects string }

func parse(t tables) (Catalog, error) {
	var c Catalog
	for _, r := range rows("families.csv", t.families) {
		f := readFamily(r)
		if err := r.done(16); err != nil {
			return Catalog{}, err
		}
		c.families = append(c.families, f)
	}
	for _, r := range rows("prefixes.csv", t.prefixes) {
		p := prefix{text: r.text(0), family: c.known(r, 1), encoding: r.text(2)}
		if err := r.done(3); err != nil {
			return Catalog{}, err
		}
		c.prefixes = append(c.prefixes, p)
	}
	for _, r := range rows("models.csv", t.models) {
		m := Model{
			ID: r.text(0), Window: r.number(1), MaxOutput: r.number(2),
			Estimator: r.text(3), Family: c.known(r, 4), DropsThinking: r.text(5) == "dropped", Source: r.text(6),
		}
		if t := r.text(5); t != "" && t != "kept" && t != "dropped" {
			r.fail("thinking", "kept, dropped or -", strconv.Quote(t))
		}
		if err := r.done(7); err != nil {
			return Catalog{}, err
		}
		c.models = append(c.models, m)
	}
	for _, r := range rows("clients.csv", t.clients) {
		o := Overhead{
			Client: r.text(0), version: r.text(1), family: r.text(2),
			Low: r.number(3), Typical: r.number(4), High: r.number(5),
		}
		if err := r.done(6); err != nil {
			return Catalog{}, err
		}
		c.clients = append(c.clients, o)
	}
	for _, r := range rows("dialects.csv", t.dialects) {
		d := readDialect(r)
		if err := r.done(18); err != nil {
			return Catalog{}, err
		}
		c.dialects = append(c.dialects, d)
	}
	return c, c.sort()
}

// sort brings the tables into the order that look-ups rely on.
func (c *Catalog) sort() error {
	slices.SortFunc(c.models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(c.models); i++ {
		if c.models[i].ID == c.models[i-1].ID {
			return fmt.Errorf("catalog: load: models.csv: model %q, want it once, got it twice", c.models[i].ID)
		}
	}
	slices.SortStableFunc(c.prefixes, func(a, b prefix) int { return len(b.text) - len(a.text) })
	return nil
}

func readFamily(r *row) Family {
	return Family{
		Name: r.text(0), Estimator: r.text(1), ReplyEstimator: r.text(2),
		Prior: r.number(3), First: r.number(4), More: r.number(5), Message: r.number(6), Use: r.number(7),
		Signature: r.number(8), SignatureSkip: r.number(9),
		Image: ImageRule{
			Cell: r.number(10), Num: r.number(11), Den: r.number(12), Plus: r.number(13),
			LongSide: r.number(14), Fallback: r.number(15),
		},
	}
}

// known returns field i of r, which must name a family.
func (c *Catalog) known(r *row, i int) string {
	name := r.text(i)
	if _, ok := c.Family(name); !ok {
		r.fail("family", "one of families.csv", fmt.Sprintf("%q", name))
	}
	return name
}
