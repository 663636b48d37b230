/** Runs `work` on all items, at most `width` at a time. Rejects with the first failure, once what runs has ended. */
export async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: width }, lane));
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
}
