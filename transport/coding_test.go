package transport_test

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// deflated packs data in the zlib format or, as some programs do under the same name, bare.
func deflated(t *testing.T, data []byte, bare bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = zlib.NewWriter(&out)
	if bare {
		var err error
		w, err = flate.NewWriter(&out, flate.DefaultCompression)
		must(t, err)
	}
	_, err := w.Write(data)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// TestDeflate: a body that is packed as deflate, in either form, is read both ways: the request
// belongs to a conversation, and of a reply whose calls the client may not see it sees none.
func TestDeflate(t *testing.T) {
	for _, bare := range []bool{false, true} {
		eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
			asked := 0
			a, tr := withoutShell(t, codec.Dialect(), stream, func(req *http.Request) (*http.Response, error) {
				reply := callsShell
				if asked++; asked > 1 {
					reply = mayNot
				}
				resp := provides(t, codec, req, stream, reply)
				plain, err := io.ReadAll(resp.Body)
				must(t, err)
				packed := deflated(t, plain, bare)
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(packed)), int64(len(packed))
				resp.Header.Set("Content-Encoding", "deflate")
				return resp, nil
			})
			var got gateway.Report
			tr.Done = func(_ *http.Request, r gateway.Report) { got = r }
			a.Change = func(body []byte) []byte { return deflated(t, body, bare) }
			a.Header.Set("Content-Encoding", "deflate")
			must(t, a.Step(t.Context()))
			if said := a.History[len(a.History)-1]; !strings.HasPrefix(said.Text(), "I see.") || !strings.HasSuffix(said.Text(), "I may not.") || len(said.Calls()) > 0 {
				t.Errorf("bare %t: the client sees %q and %d calls", bare, said.Text(), len(said.Calls()))
			}
			if got.Passed != "" || got.Session == "" || got.Rounds != 1 || got.Usage != callsShell.Usage.Add(mayNot.Usage) {
				t.Errorf("bare %t: reported %+v", bare, got)
			}
		})
	}
}

// TestWrongCoding: a reply that is not packed as its header says, and that would have to be
// looked into, loses no byte.
func TestWrongCoding(t *testing.T) {
	eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
		for _, coding := range []string{"gzip", "zlib-ng"} {
			var want []byte
			a, _ := withoutShell(t, codec.Dialect(), stream, func(req *http.Request) (*http.Response, error) {
				resp := provides(t, codec, req, stream, mayNot)
				data, err := io.ReadAll(resp.Body)
				must(t, err)
				want = data
				resp.Body = io.NopCloser(bytes.NewReader(data))
				resp.Header.Set("Content-Encoding", coding)
				resp.Header.Set("Content-Length", strconv.Itoa(len(data)))
				return resp, nil
			})
			body, err := a.Body()
			must(t, err)
			got, err := a.Send(t.Context(), body)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, want %q, got %q", coding, err, want, got)
			}
		}
	})
}
