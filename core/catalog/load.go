package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed models.csv
	modelsTable string
	//go:embed listed.csv
	listedTable string
	//go:embed prices.csv
	pricesTable string
	//go:embed storage.csv
	storageTable string
	//go:embed facts.csv
	factsTable string
	//go:embed aliases.csv
	aliasesTable string
	//go:embed providers.csv
	providersTable string
	//go:embed caches.csv
	cachesTable string
	//go:embed efforts.csv
	effortsTable string
	//go:embed images.csv
	imagesTable string
	//go:embed families.csv
	familiesTable string
	//go:embed prefixes.csv
	prefixesTable string
	//go:embed windows.csv
	windowsTable string
	//go:embed clients.csv
	clientsTable string
	//go:embed dialects.csv
	dialectsTable string
)

// A Catalog is the loaded data. It is immutable and safe for concurrent use;
// the zero Catalog knows nothing.
type Catalog struct {
	models    []Model  // by ID
	aliases   []alias  // by name
	families  []Family // as in the table
	images    []imageRules
	efforts   []effortRule
	windows   []clientWindow
	prefixes  []prefix // longest first
	clients   []Overhead
	dialects  []Dialect
	providers []Provider  // by name
	caches    []CacheRule // as in the table
}

// A prefix says what the beginning of a model's name tells.
type prefix struct {
	text, family, encoding string
}

// An alias is another name of a model.
type alias struct{ name, id string }

// Load reads the embedded tables. It takes about a millisecond; keep what it
// returns. An error means that the tables themselves are faulty, which the tests
// of this package exclude.
func Load() (Catalog, error) { return parse(embedded()) }

type tables struct {
	models, listed, prices, storage, facts, aliases                 string
	providers, caches                                               string
	images, efforts, families, prefixes, windows, clients, dialects string
}

func embedded() tables {
	return tables{
		models: modelsTable, listed: listedTable, prices: pricesTable, storage: storageTable, facts: factsTable, aliases: aliasesTable,
		providers: providersTable, caches: cachesTable,
		images: imagesTable, efforts: effortsTable, families: familiesTable, prefixes: prefixesTable, windows: windowsTable, clients: clientsTable, dialects: dialectsTable,
	}
}

// parse reads the tables in an order in which each knows what it refers to.
func parse(t tables) (Catalog, error) {
	var c Catalog
	for _, table := range []struct {
		name, text string
		fields     int
		read       func(*row)
	}{
		{"images.csv", t.images, 13, c.readImages},
		{"efforts.csv", t.efforts, 7, c.readEffort},
		{"families.csv", t.families, 14, func(r *row) { c.families = append(c.families, c.readFamily(r)) }},
		{"prefixes.csv", t.prefixes, 3, func(r *row) {
			c.prefixes = append(c.prefixes, prefix{text: r.text(0), family: c.known(r, 1), encoding: r.text(2)})
		}},
		{"caches.csv", t.caches, 10, func(r *row) { c.caches = append(c.caches, readCacheRule(r)) }},
		{"providers.csv", t.providers, 8, func(r *row) { c.providers = append(c.providers, c.readProvider(r)) }},
		{"models.csv", t.models, 8, func(r *row) { c.models = append(c.models, c.readModel(r)) }},
		{"listed.csv", t.listed, 9, c.readListed()},
		{"prices.csv", t.prices, 8, c.readPrices},
		{"storage.csv", t.storage, 3, func(r *row) { c.knownModel(r, 0).Storage = max(r.price(1), 0) }},
		{"facts.csv", t.facts, 5, c.readFacts},
		{"aliases.csv", t.aliases, 2, func(r *row) { c.aliases = append(c.aliases, alias{r.text(0), c.knownModel(r, 1).ID}) }},
		{"windows.csv", t.windows, 3, func(r *row) { c.windows = append(c.windows, clientWindow{r.text(0), r.list(1), r.number(2)}) }},
		{"clients.csv", t.clients, 6, func(r *row) { c.clients = append(c.clients, readOverhead(r)) }},
		{"dialects.csv", t.dialects, 20, func(r *row) { c.dialects = append(c.dialects, readDialect(r)) }},
	} {
		for _, r := range rows(table.name, table.text) {
			table.read(r)
			if err := r.done(table.fields); err != nil {
				return Catalog{}, err
			}
		}
		if err := c.sort(table.name); err != nil {
			return Catalog{}, err
		}
	}
	return c, nil
}

// sort brings the table that was read into the order that look-ups rely on.
func (c *Catalog) sort(table string) error {
	switch table {
	case "models.csv", "listed.csv":
		slices.SortFunc(c.models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
		for i := 1; i < len(c.models); i++ {
			if c.models[i].ID == c.models[i-1].ID {
				return fmt.Errorf("catalog: load: %s: model %q, want it once, got it twice", table, c.models[i].ID)
			}
		}
	case "prefixes.csv":
		slices.SortStableFunc(c.prefixes, func(a, b prefix) int { return len(b.text) - len(a.text) })
	case "aliases.csv":
		slices.SortFunc(c.aliases, func(a, b alias) int { return strings.Compare(a.name, b.name) })
	case "providers.csv":
		slices.SortFunc(c.providers, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	}
	return nil
}

// readModel reads a line of models.csv, which is kept by hand.
func (c *Catalog) readModel(r *row) Model {
	m := Model{
		ID: r.text(0), Window: r.number(1), MaxInput: r.number(2), MaxOutput: r.number(3),
		Estimator: r.text(4), Family: c.known(r, 5), DropsThinking: r.text(6) == "dropped", LosesThinking: r.text(6) == "lost", Source: r.text(7),
	}
	if t := r.text(6); t != "" && t != "kept" && t != "dropped" && t != "lost" {
		r.fail("thinking", "kept, dropped, lost or -", strconv.Quote(t))
	}
	return c.made(m)
}

// readListed returns the reader of the lines of listed.csv. What models.csv says
// of a model stands.
func (c *Catalog) readListed() func(*row) {
	kept := -1 // models of models.csv, which are in order by then
	return func(r *row) {
		if kept < 0 {
			kept = len(c.models)
		}
		m := Model{
			ID: r.text(0), Window: r.number(1), MaxInput: r.number(2), MaxOutput: r.number(3),
			Estimator: r.text(4), Family: c.known(r, 5), Capabilities: readCapabilities(r, 6), API: r.text(7), Source: r.text(8),
		}
		at, ok := place(c.models[:kept], m.ID)
		if !ok {
			c.models = append(c.models, c.made(m))
			return
		}
		known := &c.models[at]
		known.Capabilities, known.API = known.Capabilities.and(m.Capabilities), m.API
	}
}

// made returns m with what its maker says of all its models.
func (c *Catalog) made(m Model) Model {
	p := c.maker(m.ID)
	m.Provider, m.Cache = p.Name, p.Cache
	m.Capabilities = m.Capabilities.and(p.Capabilities)
	return m
}

// readPrices reads a line of prices.csv: one tier of a model.
func (c *Catalog) readPrices(r *row) {
	t := Tier{Above: r.number(1), Prices: Prices{
		Input: r.price(2), Output: r.price(3), CacheRead: r.price(4), CacheWrite5m: r.price(5), CacheWrite1h: r.price(6),
	}}
	m := c.knownModel(r, 0)
	if n := len(m.Tiers); n > 0 && m.Tiers[n-1].Above >= t.Above {
		r.fail("tier", "an ascending order", strconv.Itoa(t.Above))
	}
	m.Tiers, m.PriceSource = append(m.Tiers, t), r.text(7)
}

// readFacts reads a line of facts.csv: what is particular about a model.
func (c *Catalog) readFacts(r *row) {
	m := c.knownModel(r, 0)
	switch cache := r.text(1); cache {
	case "":
	case "none":
		m.Cache = ""
	default:
		c.knownCache(r, cache)
		m.Cache = cache
	}
	m.CacheMinimum, m.images = r.number(2), r.number(3)
	m.Capabilities = m.Capabilities.and(readCapabilities(r, 4))
}

// place returns where the model with that id is, or belongs.
func place(models []Model, id string) (int, bool) {
	return slices.BinarySearchFunc(models, id, func(m Model, id string) int { return strings.Compare(m.ID, id) })
}

// knownModel returns the model that field i of r names, to be filled in.
func (c *Catalog) knownModel(r *row, i int) *Model {
	id := r.text(i)
	at, ok := place(c.models, id)
	if !ok {
		r.fail("model", "one of models.csv or listed.csv", strconv.Quote(id))
		return &Model{}
	}
	return &c.models[at]
}

func (c *Catalog) readFamily(r *row) Family {
	return Family{
		Name: r.text(0), Estimator: r.text(1), ReplyEstimator: r.text(2),
		Prior: r.number(3), First: r.number(4), More: r.number(5), Message: r.number(6), Use: r.number(7),
		Signature: r.number(8), SignatureSkip: r.number(9), Image: c.knownImages(r, 10),
		Frame: Frame{r.number(11), r.number(12), r.number(13) != 0},
	}
}

func readOverhead(r *row) Overhead {
	return Overhead{
		Client: r.text(0), version: r.text(1), family: r.text(2),
		Low: r.number(3), Typical: r.number(4), High: r.number(5),
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
