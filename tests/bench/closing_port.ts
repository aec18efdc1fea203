// A port that closes every connection at once. Prints the port; ends with its standard input.
import { createServer } from "node:net";

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.resetAndDestroy();
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`));
});
for await (const _chunk of Deno.stdin.readable);
Deno.exit(0);
