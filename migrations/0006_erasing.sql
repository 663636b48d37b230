-- Whoever erases arguments need not know of their salt: it goes with them, or the arguments could be guessed from their hash.
DROP TRIGGER audit_keeps_update;
CREATE TRIGGER audit_keeps_update BEFORE UPDATE ON audit
WHEN NEW.arguments IS NOT NULL OR (NEW.salt IS NOT NULL AND NEW.salt IS NOT OLD.salt)
  OR NEW.uid IS NOT OLD.uid OR NEW.seq IS NOT OLD.seq OR NEW.kind IS NOT OLD.kind OR NEW.at IS NOT OLD.at
  OR NEW.caller_id IS NOT OLD.caller_id OR NEW.session_id IS NOT OLD.session_id OR NEW.step IS NOT OLD.step
  OR NEW.call_id IS NOT OLD.call_id OR NEW.tool IS NOT OLD.tool OR NEW.args_hash IS NOT OLD.args_hash
  OR NEW.key IS NOT OLD.key OR NEW.attempt IS NOT OLD.attempt OR NEW.ok IS NOT OLD.ok OR NEW.code IS NOT OLD.code
  OR NEW.fields IS NOT OLD.fields OR NEW.replayed IS NOT OLD.replayed OR NEW.approval_id IS NOT OLD.approval_id
  OR NEW.actor IS NOT OLD.actor OR NEW.duration_ms IS NOT OLD.duration_ms OR NEW.request_id IS NOT OLD.request_id
  OR NEW.contract IS NOT OLD.contract OR NEW.hash IS NOT OLD.hash OR NEW.withheld IS NOT OLD.withheld
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_erases_salt AFTER UPDATE ON audit WHEN NEW.arguments IS NULL AND NEW.salt IS NOT NULL
BEGIN UPDATE audit SET salt = NULL WHERE uid = NEW.uid AND seq = NEW.seq; END;
