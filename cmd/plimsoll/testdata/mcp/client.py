"""Asks an MCP server with the official Python SDK, and prints what it hears as JSON.

client.py '[["TOOL", {ARGUMENTS}], ...]' http://HOST:PORT/mcp | PROGRAM ARGUMENT...

PLIMSOLL_MCP_TOKEN is stated over HTTP.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


@asynccontextmanager
async def connected(to):
    if not to[0].startswith("http"):
        async with stdio_client(StdioServerParameters(command=to[0], args=to[1:], env=dict(os.environ))) as streams:
            yield streams
        return
    headers = {"Authorization": "Bearer " + os.environ["PLIMSOLL_MCP_TOKEN"]}
    async with create_mcp_http_client(headers) as http, streamable_http_client(to[0], http_client=http) as streams:
        yield streams


async def main(calls, to):
    async with connected(to) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = await session.list_tools()
        answers = []
        for name, arguments in calls:
            answer = await session.call_tool(name, arguments)
            answers.append("".join(part.text for part in answer.content))
        print(json.dumps({"tools": [tool.name for tool in tools.tools], "answers": answers}))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
