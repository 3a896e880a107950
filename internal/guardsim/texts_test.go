package guardsim

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// The kinds of text that tools return and people paste.
const (
	prose = iota
	code
	jsonList
	logs
	chinese
	korean
	base
	table
	numTexts
)

// variants is how many texts there are of each kind and size: sessions draw from one pool, so
// that the slow tokenizer of the server counts each text once.
const variants = 48

// sizes are what a text is long, in bytes: from a line to more than any of the windows.
var sizes = [...]int{60, 250, 900, 2500, 6000, 14_000, 40_000, 160_000}

type textKey struct{ kind, size, variant int }

// pool holds the texts that were made: textKey → string, and each string as a key.
var pool, inPool sync.Map

func pooled(s string) bool {
	_, ok := inPool.Load(s)
	return ok
}

// pooledText returns a text of the pool.
func pooledText(k textKey) string {
	if s, ok := pool.Load(k); ok {
		return s.(string)
	}
	rng := rand.New(rand.NewPCG(uint64(k.kind)<<32|uint64(k.size), uint64(k.variant)))
	s := makeText(rng, k.kind, sizes[k.size])
	inPool.Store(s, true)
	pool.Store(k, s)
	return s
}

// makeText writes a text of about that many bytes.
func makeText(rng *rand.Rand, kind, size int) string {
	line := [...]func(*rand.Rand, int) string{proseLine, codeLine, jsonLine, logLine, chineseLine, koreanLine, baseLine, tableLine}[kind]
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(line(rng, i))
		b.WriteByte('\n')
	}
	return b.String()
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// join draws n words.
func join(rng *rand.Rand, n int, sep string, words []string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = pick(rng, words)
	}
	return strings.Join(out, sep)
}

var (
	common = strings.Fields(`the harbour of old ships and cranes was quiet when morning came a pilot read her chart while tide and wind turned
		cargo lies deeper under every deck if nobody counts barrels crates ropes between bow stern every keeper writes what he saw into
		logbooks then checks again whether figures agree with measurements taken yesterday notwithstanding instrumentation uncertainties`)
	names = strings.Fields(`load line hull deck tide crane berth pilot chart buoy anchor ledger count window limit reserve buffer render parse
		decode index cursor offset length header payload session request response handler worker queue retry`)
	han     = strings.Fields("上下文 窗口 模型 消息 工具 输出 结果 文件 我们 可以 需要 今天 系统 错误 测试 会话 限制 计数 请求 响应 数据 检查 已经 没有 这个 因为 所以 服务器 重新 开始 日本語 テスト ファイル を の に は です ます")
	hangul  = strings.Fields("안녕하세요 문서 모델 창 제한 메시지 도구 출력 결과 파일 우리는 필요 오늘 시스템 오류 시험 요청 응답 데이터 확인 이미 없는 그래서 다시 시작")
	letters = "abcdefghijklmnopqrstuvwxyz"
)

func proseLine(rng *rand.Rand, _ int) string {
	return strings.ToUpper(pick(rng, []string{"a", "t", "w"})) + join(rng, 8+rng.IntN(10), " ", common) + "."
}

func codeLine(rng *rand.Rand, i int) string {
	name := pick(rng, names) + strings.ToUpper(letters[i%26:i%26+1]) + pick(rng, names)
	switch rng.IntN(5) {
	case 0:
		return fmt.Sprintf("func (s *%s) %s(ctx context.Context, %s []byte) (int, error) {", pick(rng, names), name, pick(rng, names))
	case 1:
		return fmt.Sprintf("\tif %s := s.%s[%d]; %s != nil && len(%s) > 0x%x {", name, pick(rng, names), i, name, name, rng.IntN(1<<20))
	case 2:
		return fmt.Sprintf("\t\treturn 0, fmt.Errorf(\"%s: %%w\", err) // %s", join(rng, 2, ": ", names), join(rng, 5, " ", common))
	case 3:
		return "\t}\n}\n"
	}
	return fmt.Sprintf("\t%s = append(%s, %s(%d, %q)...)", name, name, pick(rng, names), rng.IntN(9999), join(rng, 2, "_", names))
}

func jsonLine(rng *rand.Rand, i int) string {
	return fmt.Sprintf(`{"id":%d,"%s":{"%s":"%s","%s":%d.%03d,"tags":["%s","%s"],"ok":%t}},`, i, pick(rng, names), pick(rng, names),
		join(rng, 3, " ", common), pick(rng, names), rng.IntN(9999), rng.IntN(1000), pick(rng, names), pick(rng, names), rng.IntN(2) == 0)
}

func logLine(rng *rand.Rand, i int) string {
	return fmt.Sprintf("2026-03-%02dT%02d:%02d:%02d.%06dZ %s %s[%d]: %s %s=%d 10.%d.%d.%d", 1+i%28, i%24, rng.IntN(60), rng.IntN(60), rng.IntN(1_000_000),
		pick(rng, []string{"INFO", "WARN", "ERROR", "DEBUG"}), pick(rng, names), rng.IntN(70_000), join(rng, 4, " ", common), pick(rng, names),
		rng.IntN(1<<30), rng.IntN(255), rng.IntN(255), rng.IntN(255))
}

func chineseLine(rng *rand.Rand, _ int) string { return join(rng, 6+rng.IntN(10), "", han) + "。" }

func koreanLine(rng *rand.Rand, _ int) string { return join(rng, 5+rng.IntN(8), " ", hangul) + "." }

func baseLine(rng *rand.Rand, _ int) string {
	raw := make([]byte, 57)
	for i := range raw {
		raw[i] = byte(rng.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func tableLine(rng *rand.Rand, i int) string {
	return fmt.Sprintf("| %4d | %-12s | %8.2f | %s | \u00e9\u00fc\u2192\U0001f6a2 |", i, pick(rng, names), float64(rng.IntN(1_000_000))/100, join(rng, 3, "-", names))
}
