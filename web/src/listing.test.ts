import { expect, test } from "vitest";
import type { Listed } from "./api/account";
import { Listing } from "./listing.svelte";

const page = (data: string[], nextCursor: string | null = null): Listed<string> => ({ data, nextCursor });

// start returns a list and its requests, in the order in which they were made, for the test to answer.
function start() {
  const requests: { answer: (page: Listed<string>) => void; fail: (error: Error) => void }[] = [];
  const listing = new Listing<string>(() => new Promise((answer, fail) => requests.push({ answer, fail })));
  return { listing, request: (n: number) => requests[n] ?? expect.fail(`there is no request ${n}`) };
}

test("the last load counts, even if an earlier one is answered after it", async () => {
  const { listing, request } = start();
  const search = listing.load();
  request(1).answer(page(["found"]));
  await search;
  request(0).answer(page(["found", "other"], "next"));
  await Promise.resolve();
  expect(listing.items).toEqual(["found"]);
  expect(listing.next).toBeNull();
});

test("the failure of an earlier load is not reported", async () => {
  const { listing, request } = start();
  const search = listing.load();
  request(1).answer(page(["found"]));
  await search;
  request(0).fail(new Error("too late"));
  await Promise.resolve();
  expect(listing.error).toBeNull();
  expect(listing.items).toEqual(["found"]);
});

test("a page behind the last continues only the list that it was read for", async () => {
  const { listing, request } = start();
  request(0).answer(page(["a"], "next"));
  await expect.poll(() => listing.items).toEqual(["a"]);
  const once = [listing.more(), listing.more()];
  request(1).answer(page(["b"], "last"));
  request(2).answer(page(["b"], "last"));
  await Promise.all(once);
  expect(listing.items).toEqual(["a", "b"]);
  const stale = listing.more();
  const search = listing.load();
  request(4).answer(page(["found"]));
  await search;
  request(3).answer(page(["c"]));
  await stale;
  expect(listing.items).toEqual(["found"]);
  expect(listing.next).toBeNull();
});
