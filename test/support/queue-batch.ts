/** A batch as the platform hands it over, and what became of each message. */
export type Fate = { ack: boolean; retryDelaySeconds: number | null };

export function queueBatch(bodies: unknown[], attempts = 1): { batch: MessageBatch; fates: Fate[] } {
  const fates: Fate[] = bodies.map(() => ({ ack: false, retryDelaySeconds: null }));
  const messages = bodies.map((body, index) => {
    const fate = fates[index] ?? { ack: false, retryDelaySeconds: null };
    return {
      id: `message-${index}`,
      timestamp: new Date(0),
      body,
      attempts,
      ack: () => void (fate.ack = true),
      retry: (options?: QueueRetryOptions) => void (fate.retryDelaySeconds = options?.delaySeconds ?? 0),
    };
  });
  const batch: MessageBatch = {
    queue: 'toolgate',
    messages,
    metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    ackAll: () => fates.forEach((fate) => (fate.ack = true)),
    retryAll: () => fates.forEach((fate) => (fate.retryDelaySeconds = 0)),
  };
  return { batch, fates };
}
