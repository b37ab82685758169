import { expect, test } from "vitest";
import { parse } from "./events";

test("events are read as they become complete", () => {
  const whole = 'id: 1\nevent: message\ndata: {"id":"1"}\n\n: keep alive\n\nevent: seen\ndata: {"id":"1","seen":true}\n\nevent: tagged\ndata: {"id":"1","tags":["a"]}\n\n';
  const expected = [
    { kind: "message", message: { id: "1" } },
    { kind: "seen", id: "1", seen: true },
    { kind: "tagged", id: "1", tags: ["a"] },
  ];
  expect(parse(whole)).toEqual({ events: expected, rest: "" });
  for (let cut = 0; cut <= whole.length; cut++) {
    const first = parse(whole.slice(0, cut));
    const second = parse(first.rest + whole.slice(cut));
    expect([...first.events, ...second.events]).toEqual(expected);
  }
});

test("line ends of every kind, data of several lines, and unknown events", () => {
  expect(parse('event: end\r\ndata: {"reason":\r\ndata: "expired"}\r\n\r\nevent: later\ndata: {}\n\nretry: 5\n\ndata').events).toEqual([
    { kind: "end", reason: "expired" },
  ]);
});
