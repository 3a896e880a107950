package bpe

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The benchmark texts. All are made by code from a fixed seed: the same bytes in every run, and nothing in them is a
// repeated block. Words follow Zipf's law over a list of common words, as in real text; between them stand numbers, names
// and identifiers that are coined as the text goes on, and that it comes back to. So the shares of pieces that are no
// token, and of pieces seen before, are those of real text (TestTextsAreRealistic), and no run of text comes twice.

// textKinds lists the kinds that generate knows.
func textKinds() []string { return []string{"prose", "go", "json", "logs", "cjk", "base64", "run"} }

// generate returns at least size bytes of text of a kind.
func generate(kind string, size int) string {
	g := newWriter(uint64(len(kind))<<32 | uint64(kind[0]))
	line := map[string]func(){
		"prose": g.paragraph, "go": g.function, "json": g.record, "logs": g.logLine, "cjk": g.cjkLine,
		"base64": g.base64Line, "run": func() { g.WriteString(strings.Repeat("a", 4096)) },
	}[kind]
	for g.Len() < size {
		line()
	}
	return g.String()
}

const commonWords = `the of and to a in is that it was for on are as with his they at be this from have or by one had not
but what all were when we there can an your which their said if do will each about how up out them then she many some so
these would other into has more her two like him see time could no make than first been its who now people my made over
did down only way find use may water long little very after words called just where most know get through back much
before go good new write our used me man too any day same right look think also around another came come work three word
must because does part even place well such here take why things help put years different away again off went old number
great tell men say small every found still between name should home big give air line set own under read last never us
left end along while might next sound below saw something thought both few those always looked show large often together
asked house world going want school important until form food keep children feet land side without boy once animal life
enough took sometimes four head above kind began almost live page got earth need far hand high year mother light parts
country father let night following picture being study second eyes soon times story boys since white days ever paper hard
near sentence better best across during today others however sure means knew try told young miles sun ways thing whole
hear example heard several change answer room sea against top turned learn point city play toward five using himself
usually money seen system state error file value result function request context model token window message server client
user data test code process memory cache index query table column record buffer stream channel network address packet
configuration interface implementation performance measurement specification environment development documentation`

const commonHan = `我们 他们 你们 自己 什么 怎么 这个 那个 一个 没有 可以 因为 所以 但是 如果 已经 还是 就是 不是 知道 时候 现在 今天 明天 昨天
中国 世界 社会 国家 政府 经济 发展 问题 工作 学生 老师 学校 大学 公司 企业 市场 产品 技术 系统 数据 信息 网络 软件 计算 程序 语言 模型 文件 服务 用户
用于 进行 通过 需要 使用 提供 包括 根据 关于 由于 以及 或者 并且 同时 其中 之后 之前 以上 以下 主要 重要 一般 特别 非常 比较 可能 应该 必须 能够
研究 分析 结果 方法 过程 情况 条件 环境 管理 生产 生活 文化 历史 教育 科学 艺术 音乐 电影 新闻 报道 记者 人民 城市 农村 地区 北京 上海 会议 领导
上下文 窗口 压缩 计数 缓存 请求 响应 错误 测试 函数 变量 参数 接口 线程 内存 磁盘 的 了 在 是 和 也 都 就 很 不 有 与 对 为 从 到 把 被 让 给 向 于`

const commonKana = `です ます でした ました という ている こと もの ため から まで など について として による これ それ あれ ここ そこ この その わたし
コンピュータ データ システム ファイル サーバー ユーザー プログラム テスト メモリ モデル トークン 日本 東京 会社 時間 問題 情報 技術 世界 今日 明日 学校
先生 学生 仕事 研究 開発 言語 は が を に で と も の へ や`

const commonHangul = `그리고 그러나 하지만 있습니다 합니다 입니다 했습니다 대한 위해 통해 우리 사람 시간 문제 정부 경제 사회 기술 개발 연구 회사 학교 학생 정보
데이터 시스템 서버 사용자 프로그램 언어 모델 한국 서울 오늘 내일 지금 다시 매우 모든 다른 새로운 이것은 것이다 하는 되는 있는 없는`

// writer builds one text.
type writer struct {
	strings.Builder
	rng               *rand.Rand
	words             *list
	han, kana, hangul *list
	names, files      []string // coined so far
}

// list gives words by Zipf's law.
type list struct {
	words []string
	zipf  *rand.Zipf
}

func newList(rng *rand.Rand, text string) *list {
	words := strings.Fields(text)
	return &list{words, rand.NewZipf(rng, 1.05, 4, uint64(len(words)-1))}
}

func (l *list) next() string { return l.words[l.zipf.Uint64()] }

func newWriter(seed uint64) *writer {
	rng := rand.New(rand.NewPCG(seed, 2026))
	return &writer{
		rng: rng, words: newList(rng, commonWords),
		han: newList(rng, commonHan), kana: newList(rng, commonKana), hangul: newList(rng, commonHangul),
	}
}

func (g *writer) pick(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *writer) word() string { return g.words.next() }

// coined is a word of English make that is in no list.
func (g *writer) coined() string {
	return g.pick("", "", "un", "re", "pre", "over", "inter", "sub", "de", "trans", "counter") +
		g.pick("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "gr", "st", "tr", "ch", "pl", "br") +
		g.pick("a", "e", "i", "o", "u", "ea", "oa", "ou", "ai") +
		g.pick("b", "ck", "d", "ff", "g", "l", "mb", "nd", "nt", "p", "rk", "ss", "t", "v", "x", "ln", "rst") +
		g.pick("", "er", "ing", "ed", "able", "ation", "ment", "ness", "ly", "ous", "ify", "ism", "ity", "al", "ic")
}

// again gives, three times in four, something coined before, recent things more often; else what coin makes.
func (g *writer) again(pool *[]string, coin func() string) string {
	if n := len(*pool); n > 0 && g.rng.IntN(4) > 0 {
		return (*pool)[n-1-int(float64(n)*g.rng.Float64()*g.rng.Float64())%n]
	}
	*pool = append(*pool, coin())
	return (*pool)[len(*pool)-1]
}

// name is a word outside the list: a name or a term of art, which texts repeat.
func (g *writer) name() string { return g.again(&g.names, g.coined) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (g *writer) sentence() string {
	var s strings.Builder
	for n := range 6 + g.rng.IntN(16) {
		w := g.word()
		switch g.rng.IntN(24) {
		case 0, 1:
			w = g.name()
		case 2:
			w = capital(g.name())
		case 3:
			w = fmt.Sprint(g.rng.IntN(10000))
		case 4:
			w += g.pick("'s", "'ll", "n't", "-"+g.word())
		}
		if n == 0 {
			w = capital(w)
		} else {
			s.WriteString(g.pick(" ", " ", " ", " ", " ", " ", " ", " ", ", ", " (", ") ", "; ", ": ", " – "))
		}
		s.WriteString(w)
	}
	return s.String() + g.pick(".", ".", ".", "?", "!")
}

func (g *writer) paragraph() {
	for range 2 + g.rng.IntN(5) {
		g.WriteString(g.sentence() + " ")
	}
	g.WriteString("\n\n")
}

// identifier is one of code, which code repeats.
func (g *writer) identifier() string { return g.again(&g.files, g.freshIdentifier) }

func (g *writer) freshIdentifier() string {
	w := g.word()
	if g.rng.IntN(3) == 0 {
		w = g.coined()
	}
	for range g.rng.IntN(3) {
		w += capital(g.word())
	}
	return w
}

func (g *writer) function() {
	name, arg, typ := capital(g.identifier()), g.identifier(), g.pick("string", "int", "[]byte", "*"+capital(g.identifier()))
	fmt.Fprintf(g, "// %s %s\nfunc (%c *%s) %s(ctx context.Context, %s %s) error {\n", name, g.sentence(), 'a'+rune(g.rng.IntN(26)),
		capital(g.identifier()), name, arg, typ)
	for range 2 + g.rng.IntN(8) {
		a, b := g.identifier(), g.identifier()
		switch g.rng.IntN(5) {
		case 0:
			fmt.Fprintf(g, "\tif err := %s.%s(%s, %d); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n", a, capital(b), arg, g.rng.IntN(5000), g.word())
		case 1:
			fmt.Fprintf(g, "\t%s := make([]%s, 0, len(%s)+%d)\n", a, b, arg, g.rng.IntN(300))
		case 2:
			fmt.Fprintf(g, "\tfor i, %s := range %s {\n\t\t%s[i] = %s * 0x%X\n\t}\n", a, b, a, b, g.rng.Uint32())
		case 3:
			fmt.Fprintf(g, "\t%s.%s = &%s{%s: %q, %s: true} // %s\n", a, capital(b), capital(a), capital(b), g.sentence(), capital(g.identifier()), g.word())
		case 4:
			fmt.Fprintf(g, "\tswitch {\n\tcase %s != nil && %s >= %d:\n\t\t%s++\n\t}\n", a, b, g.rng.IntN(100), a)
		}
	}
	g.WriteString("\treturn nil\n}\n\n")
}

func (g *writer) record() {
	fmt.Fprintf(g, "{\"id\":\"%08x-%04x\",\"time\":\"2026-%02d-%02dT%02d:%02d:%02d.%03dZ\",", g.rng.Uint32(), g.rng.IntN(65536),
		1+g.rng.IntN(12), 1+g.rng.IntN(28), g.rng.IntN(24), g.rng.IntN(60), g.rng.IntN(60), g.rng.IntN(1000))
	for range 3 + g.rng.IntN(5) {
		key := g.word() + g.pick("", "_"+g.word(), capital(g.word()))
		switch g.rng.IntN(4) {
		case 0:
			fmt.Fprintf(g, "%q:%q,", key, g.sentence())
		case 1:
			fmt.Fprintf(g, "%q:%d.%d,", key, g.rng.IntN(1000), g.rng.IntN(100000))
		case 2:
			fmt.Fprintf(g, "%q:[%d,%d,%t],", key, g.rng.IntN(100), g.rng.IntN(100000), g.rng.IntN(2) == 0)
		case 3:
			fmt.Fprintf(g, "%q:{%q:%q,%q:null},", key, g.identifier(), "/"+g.word()+"/"+g.name()+".go", g.identifier())
		}
	}
	fmt.Fprintf(g, "\"ok\":true}\n")
}

func (g *writer) logLine() {
	fmt.Fprintf(g, "2026-%02d-%02d %02d:%02d:%02d,%03d %s [%s-%d] %s.%s - ", 1+g.rng.IntN(12), 1+g.rng.IntN(28), g.rng.IntN(24),
		g.rng.IntN(60), g.rng.IntN(60), g.rng.IntN(1000), g.pick("INFO ", "WARN ", "ERROR", "DEBUG"), g.word(), g.rng.IntN(64),
		g.name(), capital(g.identifier()))
	for range 4 + g.rng.IntN(8) {
		g.WriteString(g.word() + " ")
	}
	fmt.Fprintf(g, "%s=%d %s=%x addr=10.%d.%d.%d:%d took=%dms\n", g.word(), g.rng.IntN(1e6), g.word(), g.rng.Uint64(), g.rng.IntN(256),
		g.rng.IntN(256), g.rng.IntN(256), 1024+g.rng.IntN(60000), g.rng.IntN(10000))
}

func (g *writer) cjkLine() {
	words, blank, odd := g.han, "", rune(0x4E00)
	switch g.rng.IntN(6) {
	case 0:
		words, odd = g.kana, 0x30A1
	case 1:
		words, blank, odd = g.hangul, " ", 0xAC00
	}
	for range 4 + g.rng.IntN(14) {
		g.WriteString(words.next() + blank)
		switch g.rng.IntN(12) {
		case 0, 1:
			g.WriteString(g.pick("，", "，", "、", "：", "“", "”", "（", "）", "2026", " API "))
		case 2:
			g.WriteRune(odd + rune(g.rng.IntN(90)*g.rng.IntN(90)))
		}
	}
	g.WriteString(g.pick("。", "。\n", "？", "！\n"))
}

func (g *writer) base64Line() {
	raw := make([]byte, 57)
	for i := range raw {
		raw[i] = byte(g.rng.IntN(256))
	}
	g.WriteString(base64.StdEncoding.EncodeToString(raw) + "\n")
}

// TestTextsAreRealistic keeps the benchmark texts honest. In 750 kB of the corpus's session files and of Go source, 6–21 % of
// the pieces are no token and 0.4–9 % are distinct ones of these, which no cache has seen; the texts must not be easier
// than the lower half of that, and must not repeat themselves.
func TestTextsAreRealistic(t *testing.T) {
	enc, err := O200kBase()
	if err != nil {
		t.Fatal(err)
	}
	lowest := map[string][2]float64{ // shares of all pieces: no token; distinct and no token
		"prose": {0.06, 0.03}, "go": {0.06, 0.03}, "json": {0.06, 0.02}, "logs": {0.03, 0.008}, "cjk": {0.3, 0.2}, "base64": {0.3, 0.2},
	}
	for kind, want := range lowest {
		text := generate(kind, benchBytes)
		b := []byte(text)
		pieces, others := 0, 0
		distinct := map[string]bool{}
		for i := 0; i < len(b); {
			end := enc.pattern.next(b, i)
			pieces++
			if !enc.vocab.has(b, i, end) {
				others++
				distinct[text[i:end]] = true
			}
			i = end
		}
		got := [2]float64{float64(others) / float64(pieces), float64(len(distinct)) / float64(pieces)}
		if got[0] < want[0] || got[1] < want[1] {
			t.Errorf("%s: shares of pieces = %.3f, want at least %.3f", kind, got, want)
		}
		const window = 160
		seen := map[string]bool{}
		for i := 0; i+window <= len(text); i += window {
			seen[text[i:i+window]] = true
		}
		for i := 0; i+window <= len(text); i++ {
			if i%window != 0 && seen[text[i:i+window]] {
				t.Errorf("%s: %.40q… at %d comes again, want no run of %d bytes twice", kind, text[i:], i, window)
				break
			}
		}
	}
}
