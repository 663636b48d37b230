-- Orders to try the gate with. Harmless to repeat: what is there stays as it is.
INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES
  ('ORD-1001', 'CUS-1', 12000, 'BRL'),
  ('ORD-1002', 'CUS-2', 4500, 'USD')
ON CONFLICT DO NOTHING;
