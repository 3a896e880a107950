"""Runs the core cases of the official Python SDKs against a server and prints what they gave, one JSON line a case.

    python conformance.py BASE_URL

The server answers by the case that the user's text names (python_test.go has its script). The clients check replies
strictly: a field that is missing, or has a type or a value that the SDK does not know, fails the case.
"""

import json
import sys

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

MODEL = "test-model-1"
PLAIN = ["text", "unicode", "usage", "length", "no arguments", "parallel"]
THINKING = ["thinking", "thinking and call"]
TOOLS = ["read_file", "list_files"]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}


class Heard:
    """What an SDK gave, in the same words for all of them."""

    def __init__(self, stop):
        self.text, self.thoughts, self.calls, self.stop, self.usage = "", [], [], str(stop), {}

    def call(self, name, arguments):
        self.calls.append({"name": name, "args": arguments})

    def count(self, prompt, read, written, output, reasoning):
        self.usage = {"prompt": prompt, "read": read or 0, "written": written or 0, "output": output, "reasoning": reasoning or 0}


class Anthropic:
    name, cases = "anthropic", PLAIN + THINKING

    def __init__(self, base):
        self.client = anthropic.Anthropic(base_url=base, api_key="key", max_retries=0, _strict_response_validation=True)
        self.tools = [{"name": t, "input_schema": SCHEMA} for t in TOOLS]

    def send(self, messages, stream):
        options = {"model": MODEL, "max_tokens": 4096, "messages": messages, "tools": self.tools}
        options["thinking"] = {"type": "enabled", "budget_tokens": 1024}
        if not stream:
            return self.client.messages.create(**options)
        with self.client.messages.stream(**options) as events:
            return events.get_final_message()

    def ask(self, text, stream):
        return self.send([{"role": "user", "content": text}], stream)

    def hear(self, reply):
        heard = Heard(reply.stop_reason)
        for block in reply.content:
            if block.type == "text":
                heard.text += block.text
            elif block.type == "thinking":
                heard.thoughts.append({"text": block.thinking, "signed": bool(block.signature)})
            elif block.type == "tool_use":
                heard.call(block.name, block.input)
        u = reply.usage
        written, read = u.cache_creation_input_tokens or 0, u.cache_read_input_tokens or 0
        details = u.output_tokens_details
        heard.count(u.input_tokens + written + read, read, written, u.output_tokens, details and details.thinking_tokens)
        return heard

    def loop(self, stream):
        messages, tools = [{"role": "user", "content": "case:loop"}], []
        while True:
            reply = self.send(messages, stream)
            messages.append({"role": "assistant", "content": reply.content})
            calls = [b for b in reply.content if b.type == "tool_use"]
            if not calls:
                return tools, self.hear(reply).text
            tools += [c.name for c in calls]
            results = [{"type": "tool_result", "tool_use_id": c.id, "content": result(c.name)} for c in calls]
            messages.append({"role": "user", "content": results})

    def fault(self, error):
        if isinstance(error, anthropic.APIStatusError):
            return [type(error).__name__, error.status_code, error.body["error"]["type"]]
        return None


class OpenAI:
    def __init__(self, base):
        self.client = openai.OpenAI(base_url=base + "/v1", api_key="key", max_retries=0, _strict_response_validation=True)

    def fault(self, error):
        if isinstance(error, openai.APIStatusError):
            return [type(error).__name__, error.status_code, error.code]
        return None


class Chat(OpenAI):
    name, cases = "chat", PLAIN
    tools = [{"type": "function", "function": {"name": t, "parameters": SCHEMA}} for t in TOOLS]

    def send(self, messages, stream):
        options = {"model": MODEL, "messages": messages, "tools": self.tools}
        if not stream:
            return self.client.chat.completions.create(**options)
        with self.client.chat.completions.stream(**options, stream_options={"include_usage": True}) as events:
            try:
                return events.get_final_completion()
            except openai.LengthFinishReasonError as error:  # this helper refuses a reply that was cut at the limit
                return error.completion

    def ask(self, text, stream):
        return self.send([{"role": "user", "content": text}], stream)

    def hear(self, reply):
        choice = reply.choices[0]
        heard = Heard(choice.finish_reason)
        heard.text = choice.message.content or ""
        for call in choice.message.tool_calls or []:
            heard.call(call.function.name, json.loads(call.function.arguments))
        u = reply.usage
        into, out = u.prompt_tokens_details, u.completion_tokens_details
        heard.count(u.prompt_tokens, into.cached_tokens, into.cache_write_tokens, u.completion_tokens, out.reasoning_tokens)
        return heard

    def loop(self, stream):
        messages, tools = [{"role": "user", "content": "case:loop"}], []
        while True:
            message = self.send(messages, stream).choices[0].message
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in messages[-1].get("tool_calls", []):
                call["function"].pop("parsed_arguments", None)
            if not message.tool_calls:
                return tools, message.content
            for call in message.tool_calls:
                tools.append(call.function.name)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result(call.function.name)})


class Responses(OpenAI):
    name, cases = "responses", PLAIN + THINKING
    tools = [{"type": "function", "name": t, "parameters": SCHEMA, "strict": False} for t in TOOLS]

    def send(self, items, stream):
        options = {"model": MODEL, "input": items, "tools": self.tools, "store": False}
        options |= {"include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}
        if not stream:
            return self.client.responses.create(**options)
        with self.client.responses.stream(**options) as events:
            last = None
            for event in events:
                if event.type in ("response.completed", "response.incomplete"):
                    last = event.response
            return last

    def ask(self, text, stream):
        return self.send([{"role": "user", "content": text}], stream)

    def hear(self, reply):
        why = reply.incomplete_details and reply.incomplete_details.reason
        heard = Heard(reply.status + (": " + why if why else ""))
        heard.text = reply.output_text
        for item in reply.output:
            if item.type == "reasoning":
                text = "".join(part.text for part in item.summary)
                heard.thoughts.append({"text": text, "signed": bool(item.encrypted_content)})
            elif item.type == "function_call":
                heard.call(item.name, json.loads(item.arguments))
        u = reply.usage
        into = u.input_tokens_details
        heard.count(u.input_tokens, into.cached_tokens, into.cache_write_tokens, u.output_tokens, u.output_tokens_details.reasoning_tokens)
        return heard

    def loop(self, stream):
        items, tools = [{"role": "user", "content": "case:loop"}], []
        while True:
            reply = self.send(items, stream)
            for item in reply.output:
                items.append({k: v for k, v in item.model_dump(exclude_none=True).items() if k != "parsed_arguments"})
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return tools, reply.output_text
            for call in calls:
                tools.append(call.name)
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result(call.name)})


class Gemini:
    name, cases = "gemini", PLAIN + THINKING

    def __init__(self, base):
        retry = types.HttpRetryOptions(attempts=1)
        self.client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=base, retry_options=retry))
        declarations = [types.FunctionDeclaration(name=t, parameters_json_schema=SCHEMA) for t in TOOLS]
        self.config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=declarations)],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            thinking_config=types.ThinkingConfig(include_thoughts=True),
        )

    def send(self, contents, stream):
        options = {"model": MODEL, "contents": contents, "config": self.config}
        if not stream:
            return [self.client.models.generate_content(**options)]
        return list(self.client.models.generate_content_stream(**options))

    def ask(self, text, stream):
        return self.send(text, stream)

    def parts(self, chunks):
        return [part for chunk in chunks for c in chunk.candidates or [] if c.content for part in c.content.parts or []]

    def hear(self, chunks):
        last = chunks[-1]
        heard = Heard(last.candidates[0].finish_reason.value)
        fresh = True
        for part in self.parts(chunks):
            if part.function_call:
                heard.call(part.function_call.name, part.function_call.args or {})
            elif part.thought:
                if fresh:
                    heard.thoughts.append({"text": "", "signed": False})
                heard.thoughts[-1]["text"] += part.text or ""
                heard.thoughts[-1]["signed"] |= bool(part.thought_signature)
                fresh = bool(part.thought_signature)
            else:
                heard.text += part.text or ""
        u = last.usage_metadata
        thought = u.thoughts_token_count or 0
        heard.count(u.prompt_token_count, u.cached_content_token_count, 0, u.candidates_token_count + thought, thought)
        return heard

    def loop(self, stream):
        chat, tools, message, history = self.client.chats.create(model=MODEL, config=self.config), [], "case:loop", []
        while True:
            if stream:  # the chat keeps every chunk as a message, which the provider does not take where there are calls
                history.append(types.Content(role="user", parts=message) if history else types.UserContent(message))
                chunks = self.send(history, True)
                kept = [part for part in self.parts(chunks) if part.text or part.function_call or part.thought_signature]
                history.append(types.Content(role="model", parts=kept))
            else:
                chunks = [chat.send_message(message)]
            calls = [part.function_call for part in self.parts(chunks) if part.function_call]
            if not calls:
                return tools, self.hear(chunks).text
            tools += [c.name for c in calls]
            message = [
                types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": result(c.name)}))
                for c in calls
            ]

    def fault(self, error):
        if isinstance(error, genai_errors.APIError):
            return [type(error).__name__, error.code, error.status]
        return None


def result(tool):
    return "the result of " + tool


def report(sdk, case, stream, run):
    line = {"sdk": sdk.name, "case": case, "stream": stream}
    try:
        line["got"] = run()
    except Exception as error:  # whatever the SDK throws is the result
        line["error"] = f"{type(error).__name__}: {error}"
        line["fault"] = sdk.fault(error)
    print(json.dumps(line), flush=True)


def main(base):
    for sdk in (Anthropic(base), Chat(base), Responses(base), Gemini(base)):
        for stream in (False, True):
            for case in sdk.cases:
                report(sdk, case, stream, lambda: vars(sdk.hear(sdk.ask("case:" + case, stream))))
            for case in ("429", "overloaded"):
                report(sdk, case, stream, lambda: vars(sdk.hear(sdk.ask("case:" + case, stream))))
            report(sdk, "loop", stream, lambda: dict(zip(("tools", "text"), sdk.loop(stream))))
        report(sdk, "fail", True, lambda: vars(sdk.hear(sdk.ask("case:fail", True))))


if __name__ == "__main__":
    main(sys.argv[1])
