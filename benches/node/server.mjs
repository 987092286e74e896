// What a Node service does that takes deliveries as Probot does, with @octokit/webhooks, and commits each one to SQLite before
// it answers. Arguments: the database's file, the secret. Prints the port.
import { createServer } from "node:http";
import { Webhooks, createNodeMiddleware } from "@octokit/webhooks";
import Database from "libsql";

const [file, secret] = process.argv.slice(2);
const database = new Database(file);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec(
  "CREATE TABLE delivery (id TEXT PRIMARY KEY, event TEXT NOT NULL, payload TEXT NOT NULL, received_at INTEGER NOT NULL)",
);
const insert = database.prepare("INSERT INTO delivery VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING");
const webhooks = new Webhooks({ secret });
webhooks.onAny(({ id, name, payload }) => {
  insert.run(id, name, JSON.stringify(payload), Date.now());
});
const server = createServer(createNodeMiddleware(webhooks, { path: "/webhook" }));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
