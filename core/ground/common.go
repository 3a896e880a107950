package ground

// common are words that look like identifiers and stand in the programs and tools of
// everyone: a model writes them without having read them. The list was written by hand,
// from the standard libraries and tools of JavaScript, Python, Go, Rust and the shell.
const common = " toString toLowerCase toUpperCase forEach indexOf lastIndexOf charAt charCodeAt startsWith endsWith parseInt parseFloat isArray isNaN" +
	" useState useEffect useRef useMemo useCallback useContext addEventListener removeEventListener querySelector querySelectorAll getElementById" +
	" createElement appendChild innerHTML textContent className onClick onChange onSubmit setTimeout setInterval clearTimeout clearInterval" +
	" localStorage sessionStorage JSON stringify hasOwnProperty getOwnPropertyNames defineProperty fromEntries splice findIndex flatMap reduceRight" +
	" readFileSync writeFileSync existsSync mkdirSync readFile writeFile readdirSync statSync unlinkSync execSync spawnSync createServer" +
	" /dev/null node_modules package_json __dirname __filename module_exports beforeEach afterEach beforeAll afterAll toBe toEqual toHaveBeenCalled" +
	" toHaveBeenCalledWith toContain toThrow mockResolvedValue mockReturnValue mockImplementation describe vitest utf8 utf_8 UTF8 base64 sha256 sha1 md5" +
	" http2 ipv4 ipv6 x86_64 amd64 arm64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 usize isize i32 i64 u32 u64 f32 f64 python3 pip3" +
	" __init__ __main__ __name__ __file__ __str__ __repr__ __dict__ __class__ __all__ is_none isinstance getattr setattr hasattr default_factory" +
	" dataclass staticmethod classmethod site_packages NotImplementedError ValueError TypeError KeyError RuntimeError FileNotFoundError IndexError" +
	" AttributeError ImportError ModuleNotFoundError AssertionError SyntaxError ReferenceError RangeError unwrap_or unwrap_or_else as_str to_string to_owned" +
	" into_iter is_empty is_some is_none is_ok is_err println eprintln Println Printf Sprintf Errorf Fprintf NewReader NewWriter ReadAll WriteString HasPrefix" +
	" HasSuffix TrimSpace MarshalJSON UnmarshalJSON GOPATH GOROOT DevNull dev_null max_depth JavaScript TypeScript GitHub README_md macOS iOS PostgreSQL" +
	" MySQL SQLite GraphQL WebSocket boolean readonly v1 v2 v3 h1 h2 h3 p1 p2 tests1 utf16 es6 es2020 es2022 ES2020 ES2022 "
