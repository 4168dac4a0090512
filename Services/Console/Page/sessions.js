// Where one is signed in, and how to end that.

import { drop, get } from "./api.js";
import { badge, h, moment, say } from "./dom.js";
import { button, confirm, heading, into, table } from "./parts.js";

const ways = { token: "own token", organization: "organization" };

export default function sessions(element, { signal }) {
  const place = h("div", {});
  const look = () => into(place, async () => {
    const rows = await get("/sessions", { signal });
    say(`${rows.length} sessions`);
    return table({ caption: "Your sessions, the one used last first", columns: columns(look), rows });
  }, signal);
  const all = button("End all", () =>
    confirm({
      title: "End all sessions",
      explanation: "You are signed out everywhere, here too.",
      verb: "End all",
      isGrave: true,
      hasNoReason: true,
      act: async () => {
        await drop("/sessions");
        return "All sessions have ended.";
      },
      done: look,
    }), { class: "quiet" });
  element.append(heading("Your sessions", "Where you are signed in to this page.", all), place);
  look();
}

function columns(again) {
  return [
    { title: "Signed in", cell: (row) => moment(row.created_at) },
    { title: "By", cell: (row) => ways[row.way] ?? row.way },
    { title: "Last used", cell: (row) => moment(row.seen_at) },
    { title: "Ends", cell: (row) => moment(row.expires_at) },
    { title: "Where", cell: (row) => (row.is_this ? badge("this one", "good") : "elsewhere") },
    { title: "", kind: "acts", cell: (row) => h("div", { class: "acts" }, end(row, again)) },
  ];
}

function end(session, again) {
  const where = session.is_this ? "here" : "there";
  return button("End", () =>
    confirm({
      title: session.is_this ? "End this session" : "End a session",
      explanation: `You are signed out ${where} at once.`,
      verb: "End",
      isGrave: true,
      hasNoReason: true,
      act: async () => {
        await drop(`/sessions/${session.id}`);
        return "The session has ended.";
      },
      done: again,
    }), { class: "quiet", "aria-label": `End the session of ${session.created_at}` });
}
