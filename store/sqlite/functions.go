package sqlite

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"math"

	"modernc.org/sqlite"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// place is plimsoll_place(sum, session, seq) in SQL: the sum of a content at a place.
func (p *packer) place(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	var n [3]int64
	for i := range n {
		var ok bool
		if n[i], ok = args[i].(int64); !ok {
			return nil, fmt.Errorf("plimsoll_place: want the columns sum, session and seq")
		}
	}
	return p.placed(n[0], n[1:]...), nil
}

// content is plimsoll_body(ref, form, size, sum, body) in SQL.
func (p *packer) content(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	ref, ok := args[0].(string)
	form, ok1 := args[1].(int64)
	size, ok2 := args[2].(int64)
	sum, ok3 := args[3].(int64)
	data, ok4 := args[4].([]byte)
	if !ok || !ok1 || !ok2 || !ok3 || !ok4 || form < 0 || form > math.MaxInt8 {
		return nil, fmt.Errorf("plimsoll_body: want the columns ref, form, size, sum and body")
	}
	if size > mostValue {
		return nil, fmt.Errorf("plimsoll_body: content, want at most %d bytes in a query, got %d", mostValue, size)
	}
	out, err := p.blob(body{int(form), size, sum, bytes.Clone(data)}, llm.Ref(ref))
	if err != nil {
		return nil, fmt.Errorf("plimsoll_body: %w", owned(err, "", "ref %s", ref))
	}
	return out, nil
}

// firstLine is plimsoll_first(session, seq, form, size, sum, body) in SQL: the first line of a
// snapshot.
func (p *packer) firstLine(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	var n [5]int64
	for i := range n {
		var ok bool
		if n[i], ok = args[i].(int64); !ok {
			return nil, fmt.Errorf("plimsoll_first: want the columns session, seq, form, size, sum and body")
		}
	}
	data, ok := args[5].([]byte)
	if !ok || n[2] < 0 || n[2] > math.MaxInt8 {
		return nil, fmt.Errorf("plimsoll_first: want the columns session, seq, form, size, sum and body")
	}
	out, err := p.unpack(body{int(n[2]), n[3], n[4], bytes.Clone(data)}, n[0], n[1])
	if err != nil {
		return nil, fmt.Errorf("plimsoll_first: %w", owned(err, "", "snapshot %d", n[1]))
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(line), nil
}

// joining is plimsoll_join(ref, size, sum, index, form, piece) in SQL: the content of pieces
// in their order.
type joining struct {
	packer *packer
	index  *index
	data   []byte
	n      int
}

// Step implements sqlite.AggregateFunction.
func (j *joining) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	ref, ok := args[0].(string)
	size, ok1 := args[1].(int64)
	sum, ok2 := args[2].(int64)
	list, ok3 := args[3].([]byte)
	form, ok4 := args[4].(int64)
	data, ok5 := args[5].([]byte)
	if !ok || !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || form < 0 || form > math.MaxInt8 {
		return fmt.Errorf("plimsoll_join: want the columns ref, size, sum and body of a blob, form and body of a piece")
	}
	if err := j.step(llm.Ref(ref), body{formPieces, size, sum, list}, int(form), bytes.Clone(data)); err != nil {
		return fmt.Errorf("plimsoll_join: %w", owned(err, "", "ref %s", ref))
	}
	return nil
}

func (j *joining) step(ref llm.Ref, b body, form int, data []byte) (err error) {
	if j.index == nil {
		if b.size > mostValue {
			return fmt.Errorf("content, want at most %d bytes in a query, got %d", mostValue, b.size)
		}
		if j.index, err = j.packer.index(b, ref); err != nil {
			return err
		}
	}
	if j.n == len(j.index.pieces) {
		return flaw("pieces", len(j.index.pieces), "more")
	}
	piece, err := j.packer.piece(nil, j.index, j.n, body{form: form, data: data})
	j.data = append(j.data, piece...)
	j.n++
	return err
}

// WindowValue implements sqlite.AggregateFunction.
func (j *joining) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if j.index == nil {
		return nil, fmt.Errorf("plimsoll_join: %w", owned(flaw("pieces", "some", "none"), "", "content"))
	}
	if got := llm.RefOf(j.data); got != j.index.ref {
		return nil, fmt.Errorf("plimsoll_join: %w", owned(flaw("ref of the content", j.index.ref, got), "", "ref %s", j.index.ref))
	}
	return j.data, nil
}

// WindowInverse implements sqlite.AggregateFunction. The documents' table has no windows.
func (*joining) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return fmt.Errorf("plimsoll_join: want no window, got one")
}

// Final implements sqlite.AggregateFunction.
func (*joining) Final(*sqlite.FunctionContext) {}
