package loop

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// An Embedder turns texts into vectors that are near each other where the texts mean the same.
type Embedder interface {
	// Embed returns a vector for each text, all of the same length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// vectorsPrefix is what the sessions of a loop's vectors begin with in a store. They are
// records, which no search reads.
const vectorsPrefix = "loop-vectors/"

// Bounds of what gets vectors.
const (
	mostEmbedded = 16   // passages of an iteration, the last ones
	longEmbedded = 1000 // bytes of one, about
	mostNear     = 40   // that are near to a query
)

// A vector is the direction of a text's meaning: each number from -127 to 127, the whole as
// long as fits.
type vector []int8

// vectorOf keeps the direction of what a model returned.
func vectorOf(raw []float32) vector {
	most := float32(0)
	for _, x := range raw {
		most = max(most, float32(math.Abs(float64(x))))
	}
	v := make(vector, len(raw))
	if most == 0 || math.IsInf(float64(most), 0) || math.IsNaN(float64(most)) {
		return v
	}
	for i, x := range raw {
		v[i] = int8(math.Round(float64(x / most * 127)))
	}
	return v
}

// near returns the cosine of two vectors.
func (v vector) near(w vector) float64 {
	var dot, a, b float64
	for i := range min(len(v), len(w)) {
		x, y := float64(v[i]), float64(w[i])
		dot, a, b = dot+x*y, a+x*x, b+y*y
	}
	if a == 0 || b == 0 || len(v) != len(w) {
		return 0
	}
	return dot / math.Sqrt(a*b)
}

// An embedded is a passage with its vector.
type embedded struct {
	core.Passage
	vector vector
}

// An embeddedRecord is what is kept of one iteration.
type embeddedRecord struct {
	Version   int      `json:"v"`
	Model     string   `json:"model"`
	Iteration int      `json:"iteration"`
	Texts     []string `json:"texts"`
	Vectors   []string `json:"vectors"` // base64 of the numbers
}

// vectors are those of a loop.
type vectors struct {
	embedder Embedder
	model    string
	store    store.Store
	session  string
	seq      int
	list     []embedded
}

// openVectors reads those that a model has made for a loop.
func openVectors(ctx context.Context, v vectors) (*vectors, error) {
	for data, err := range v.store.Records(ctx, v.session, 0) {
		var r embeddedRecord
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err == nil && (r.Version != journalVersion || len(r.Vectors) != len(r.Texts)) {
			err = errors.New("want a vector for each text")
		}
		if err != nil {
			return nil, fmt.Errorf("loop: vectors: record %d: %w", v.seq, err)
		}
		v.seq++
		if r.Model == v.model {
			v.take(r)
		}
	}
	return &v, nil
}

func (v *vectors) take(r embeddedRecord) {
	for i, text := range r.Texts {
		raw, err := base64.StdEncoding.DecodeString(r.Vectors[i])
		if err != nil {
			continue // it is near nothing
		}
		numbers := make(vector, len(raw))
		for k, b := range raw {
			numbers[k] = int8(b) //nolint:gosec // as it was written
		}
		v.list = append(v.list, embedded{core.Passage{Iteration: r.Iteration, Text: text}, numbers})
	}
}

// add makes vectors of an iteration's words.
func (v *vectors) add(ctx context.Context, iteration int, words string) error {
	texts := passagesOf(words)
	if len(texts) == 0 {
		return nil
	}
	raw, err := v.embed(ctx, texts)
	if err != nil {
		return err
	}
	r := embeddedRecord{Version: journalVersion, Model: v.model, Iteration: iteration, Texts: texts}
	for _, numbers := range raw {
		packed := make([]byte, len(numbers))
		for i, x := range vectorOf(numbers) {
			packed[i] = byte(x) //nolint:gosec // read back as it is
		}
		r.Vectors = append(r.Vectors, base64.StdEncoding.EncodeToString(packed))
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = v.store.Append(ctx, v.session, v.seq, [][]byte{data})
	}
	if err != nil {
		return err
	}
	v.seq++
	v.take(r)
	return nil
}

func (v *vectors) embed(ctx context.Context, texts []string) ([][]float32, error) {
	raw, err := v.embedder.Embed(ctx, texts)
	if err == nil && len(raw) != len(texts) {
		err = fmt.Errorf("want %d vectors, got %d", len(texts), len(raw))
	}
	return raw, err
}

// nearest returns the passages that are nearest to a query, of iterations up to one.
func (v *vectors) nearest(ctx context.Context, query string, last int) ([]core.Passage, error) {
	if len(v.list) == 0 {
		return nil, nil
	}
	raw, err := v.embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	wanted := vectorOf(raw[0])
	type ranked struct {
		core.Passage
		near float64
	}
	var all []ranked
	for _, e := range v.list {
		if n := wanted.near(e.vector); e.Iteration <= last && n > 0 {
			all = append(all, ranked{e.Passage, n})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		switch {
		case a.near > b.near:
			return -1
		case a.near < b.near:
			return 1
		}
		return 0
	})
	var found []core.Passage
	for _, r := range all[:min(len(all), mostNear)] {
		found = append(found, r.Passage)
	}
	return found, nil
}

// passagesOf takes words apart for vectors: whole lines, up to about a thousand bytes; the last
// ones, as conclusions stand at the end.
func passagesOf(words string) []string {
	var texts []string
	var open strings.Builder
	flush := func() {
		if text := strings.TrimSpace(open.String()); text != "" {
			texts = append(texts, valid(text))
		}
		open.Reset()
	}
	for line := range strings.Lines(words) {
		if strings.TrimSpace(line) == "" && open.Len() > longEmbedded/4 || open.Len()+len(line) > longEmbedded {
			flush()
		}
		open.WriteString(line[:min(len(line), longEmbedded)])
	}
	flush()
	return texts[max(0, len(texts)-mostEmbedded):]
}

// fusion is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const fusion = 60

// fused puts two rankings together: a passage is worth the more the nearer it is to the
// beginning of either.
func fused(a, b []core.Passage) []core.Passage {
	worth := map[core.Passage]float64{}
	var all []core.Passage
	for _, list := range [][]core.Passage{a, b} {
		for i, p := range list {
			if worth[p] == 0 {
				all = append(all, p)
			}
			worth[p] += 1 / float64(fusion+i)
		}
	}
	slices.SortStableFunc(all, func(a, b core.Passage) int {
		switch {
		case worth[a] > worth[b]:
			return -1
		case worth[a] < worth[b]:
			return 1
		}
		return 0
	})
	return all
}
