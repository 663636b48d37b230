// Explicit-state model of the life of an effect in another system (docs/specification.md#effects-in-other-systems).
// One state = session object (durable part, running part, a replaced part that does not know it yet), D1, backend, everything on its way.
// `npm run model` searches all configurations, then the planted bugs; the test beside this file searches small bounds.
// `npm run model -- '{"cfg":{…},"V":{…}}'` makes one search and prints the shortest trace of what it finds.
// A status that is not terminal counts as applied; "failed for good" found before the final row makes a void; after it nothing changes.
// Joining callers are modelled by what they may not do: no call of a key arrives while another of it runs.
export const DEFAULT_C = { cls: 1, lookup: true, refusalsKept: true, keys: 1, atts: 2, calls: 2, sends: 2, crashes: 1, net: 1, d1: 1, flips: 0, dups: 0,
  conf: 0, revoke: 0, deploys: 0, prelook: 0, rotates: 0, pause: 0, ask: 0, reversals: 0, revivals: 0, zombie: 1, oper: 1, operResend: 0, opResends: 1, unbounded: 0, earlyPrune: 0, backendLimit: 9, total: 9, maxStates: 3e6, secs: 120, live: true, keepGoing: false };
// the design; each member can be set to another reading
export const DEFAULT_V = { journal: true, leaveMark: true, noMore: true, quiet: true, quietAt: 'issue', prelook: 'nothing', refusedAlone: true, bytes: 'stored',
  mismatch: 'nothing', keepMargin: true, jRow: true, jLive: true, told: true, unknown: 'settle', rise: 'void', toolChanged: true, lock: true, ceiling: true,
  resendUnkeyed: false, operQuiet: true, writeOnce: true, lookFirst: true, holdVoids: false, closedFirst: true, leaveChecks: true, note: true, closedFinal: true,
  quietFrom: 'last', lag: true, place: true, jPause: true, pTold: true, waits: true, waitHour: true, askFinal: true, askApproval: true };

const NONE=0,PEND=1,APPR=2,CLAIM=3,EXEC=4,REJ=5,FAIL=6; const SN=['none','pending','approved','claimed','executed','rejected','failed'];
// what the running part waits for
const IDLE=0,CHK=1,J=2,JR=3,H=4,HR=5,LK=6,LKR=7,F=8,FR=9; const PN=['','check','journal','journal answered','send','send answered','look-up','look-up answered','final row','final row answered'];
const CALL=1,ALARM=2,DEC=3,OPER=4; const KN=['','call','alarm','decision','operator'];
const FRESH=1,RESUME=2,DECIDE=3;
const ERR=0,OPEN=1,VOID=2,APPL=3,HOLD=4,WAIT=5,HOLDP=6; const RN=['no answer','open','void','applied','hold','waits','hold, paused'];
const hNO=0,hAPP=1,hREF=2,hPRE=3,hMIS=4; const HN_=['no answer','applied','refused','refused before the key was looked up','key used with other parameters'];
// globals
const gLive=0/*0 live 1 dead in D1*/,gTold=1,gAns=2/*1: 200, 2: 202*/,gAllow=3,gFlip=4,gNet=5,gD1=6,gCrash=7,gDup=8,gDep=9,gVer=10,gPre=11,gCut=12,gOR=13,gOp=14,gAcc=15,gPau=16/*1 in D1 2 and told 3 lifted in D1, still told*/,gPA=17/*the pause was answered*/,gPN=18; const G=19;
// key
const kSt=0,kAtt=1,kCalls=2,rPc=3,rArg=4,rKind=5,rCtx=6,zPc=7,zArg=8,zCtx=9,zAtt=10,kX=11,kA=12;
// attempt
const aVer=0,aGVer=1/*ghost: what was claimed or approved*/,aApr=2,aLeft=3,aClosed=4,aNote=5,aRow=6,aOpen=7,aCnt=8,aKept=9,aKVer=10,aVis=11,aW=12,aQ=13,aAlone=14,aGLeft=15,aGot=16/*ghost: a final answer reached the object*/,aPlace=17,aRev=18/*accepted, then failed for good at the backend*/; const AW=19;
const MAXOPS=6;
// reached: shows that a search was not empty
export const REACH = ['executed after one send','executed after several sends','executed found by look-up','void after a final refusal','void after proven absent','void before any send','settled by the operator: applied','settled by the operator: void','replaced instance stopped by its own write','request landed late','key pruned','approved and executed','settled after revocation','found, but failed for good'];

export function explore(arg) {
  const C = { ...DEFAULT_C, ...arg.cfg }, V = { ...DEFAULT_V, ...arg.V };
  const KW=kA+C.atts*AW, KO=k=>G+k*KW, AO=(k,a)=>KO(k)+kA+(a-1)*AW, OO=j=>G+C.keys*KW+j*2, W=OO(MAXOPS);
  let viol=[]; const reach=new Set(); const bad=(id,why)=>viol.push([id,why]);
  const open=st=>st===APPR||st===CLAIM;
  // ---- what is on its way: type 1 journal, 2 final applied, 3 final void, 4 request; owner 0 nobody, 1 running, 2 zombie
  const enc=(t,k,a,ver,own)=>[(t<<4)|(k<<2)|a,(ver<<4)|own]; const dec=(s,j)=>({t:s[OO(j)]>>4,k:(s[OO(j)]>>2)&3,a:s[OO(j)]&3,ver:s[OO(j)+1]>>4,own:s[OO(j)+1]&3});
  function addOp(s,t,k,a,ver,own){ for(let j=0;j<MAXOPS;j++) if(!s[OO(j)]){ const [x,y]=enc(t,k,a,ver,own); s[OO(j)]=x; s[OO(j)+1]=y; return; } s[gCut]=1; }
  function disown(s,k,own){ for(let j=0;j<MAXOPS;j++) if(s[OO(j)]){ const o=dec(s,j); if(o.k===k&&o.own===own) s[OO(j)+1]=(o.ver<<4); } }
  function passOn(s,k){ for(let j=0;j<MAXOPS;j++) if(s[OO(j)]){ const o=dec(s,j); if(o.k===k&&o.own===1) s[OO(j)+1]=(o.ver<<4)|2; } }
  function normOps(s){ const l=[]; for(let j=0;j<MAXOPS;j++) if(s[OO(j)]) l.push((s[OO(j)]<<8)|s[OO(j)+1]); l.sort((a,b)=>a-b);
    const out=[]; for(const x of l){ const t=x>>12,own=x&3; if(own===0&&t!==4){ const k=(x>>10)&3,a=(x>>8)&3; if(s[AO(k,a)+aRow]&&V.writeOnce&&V.jRow&&t!==1) continue; if(t===1&&V.jRow&&s[AO(k,a)+aRow]) continue; if(out.includes(x)) continue; } out.push(x); }
    for(let j=0;j<MAXOPS;j++){ s[OO(j)]=(out[j]||0)>>8; s[OO(j)+1]=(out[j]||0)&255; } }
  const flying=(s,k,a)=>{ for(let j=0;j<MAXOPS;j++) if(s[OO(j)]){ const o=dec(s,j); if(o.t===4&&o.k===k&&o.a===a) return true; } return false; };
  const net=(s,o)=>s[o+aCnt]-s[o+aRev]; // what stands at the backend
  const total=s=>{ let n=0; for(let k=0;k<C.keys;k++) for(let a=1;a<=C.atts;a++) n+=s[AO(k,a)+aCnt]; return n; };
  const canAllow=s=>(s[gAllow]||s[gFlip]<C.flips)&&total(s)<C.backendLimit;
  const knows=(s,k,a,ver)=>C.cls===1&&s[AO(k,a)+aKept]&&(s[AO(k,a)+aKVer]>>1)===(ver>>1); // keys are known in one account only
  const canStill=(s,k,a)=>{ if(!canAllow(s)) return false; for(let j=0;j<MAXOPS;j++) if(s[OO(j)]){ const o=dec(s,j); if(o.t===4&&o.k===k&&o.a===a&&!knows(s,k,a,o.ver)) return true; } return false; };
  // ---- the running part (who=1) and a replaced instance (who=2). A write of the object kills the replaced one.
  const att=(s,k,who)=>who===1?s[KO(k)+kAtt]:s[KO(k)+zAtt];
  function set(s,k,who,pc,arg=0,ctx=0){ const r=KO(k); if(who===1){ s[r+rPc]=pc; s[r+rArg]=arg; s[r+rCtx]=ctx; } else { s[r+zPc]=pc; s[r+zArg]=arg; s[r+zCtx]=ctx; } }
  function end(s,k,who){ const r=KO(k); disown(s,k,who); if(who===1){ s[r+rPc]=s[r+rArg]=s[r+rKind]=s[r+rCtx]=0; } else s[r+zPc]=s[r+zArg]=s[r+zCtx]=s[r+zAtt]=0; }
  function write(s,k,who){ if(who===2){ reach.add(8); end(s,k,2); return false; } return true; } // durable, or the instance is a replaced one
  const kind=(s,k,who)=>who===1?s[KO(k)+rKind]:CALL;
  const refusing=(s,k)=>s[gTold]&&V.told;
  const pausedToldAt=s=>s[gPau]>=2, paused=s=>s[gPau]>=2&&V.pTold, pausedInD1=s=>s[gPau]===1||s[gPau]===2;
  function check(s,k,ctx){ set(s,k,1,CHK,0,ctx); }
  function journal(s,k,who,ctx){ if(!V.journal) return leave(s,k,who,ctx); set(s,k,who,J,0,ctx); addOp(s,1,k,att(s,k,who),0,who); }
  function final(s,k,who,applied){ const a=att(s,k,who), o=AO(k,a);
    if(applied){ if(V.note){ if(!write(s,k,who)) return; s[o+aNote]=1; } }
    else if(V.noMore){ if(!write(s,k,who)) return; s[o+aClosed]=1; }
    set(s,k,who,F,0,applied?1:0); addOp(s,applied?2:3,k,a,0,who); }
  /** The last synchronous step before a request: permission, count and time of the send are one durable write. */
  function leave(s,k,who,ctx){ const a=att(s,k,who), o=AO(k,a), k4=kind(s,k,who)===OPER;
    if(refusing(s,k)&&!k4){ if(s[o+aLeft]===0) return final(s,k,who,false); return end(s,k,who); }
    if(paused(s)&&!k4){ if(s[o+aLeft]===0&&s[KO(k)+kSt]===CLAIM) return final(s,k,who,false); return end(s,k,who); }
    if(V.place&&s[o+aPlace]!==s[gAcc]){ if(s[o+aLeft]===0) return final(s,k,who,false); return end(s,k,who); }
    // read again what the journal's await may have outlived: the window of this key, the hour of an approval
    if(V.leaveChecks){ if(s[o+aClosed]&&V.closedFinal) return final(s,k,who,false); if(s[o+aClosed]) s[o+aClosed]=0; if(s[o+aLeft]>0&&s[o+aW]>=(k4?2:1)) return end(s,k,who); if(s[o+aLeft]===0&&s[KO(k)+kSt]===APPR&&s[o+aW]>=1) return final(s,k,who,false); }
    if(V.leaveMark){ if(!write(s,k,who)) return; s[o+aAlone]=(s[o+aLeft]===0||s[o+aQ]>=1)?1:0; s[o+aLeft]++; }
    else s[o+aAlone]=1;
    s[o+aGLeft]=Math.min(3,s[o+aGLeft]+1); if(V.quietFrom==='last'||s[o+aLeft]<2) s[o+aQ]=0;
    if(s[o+aRow]===2) bad('P2-send-after-void',`attempt ${a} leaves although its void is written`);
    if(!s[o+aOpen]) bad('P7-send-without-journal',`attempt ${a} leaves while D1 holds no open row of it`);
    if(s[gAns]===1&&!k4) bad('P8-send-after-delete',`a request leaves after DELETE answered 200`);
    if(pausedToldAt(s)&&s[gPau]===2&&!k4) bad('P8-send-under-pause','a request leaves although the session knows of the pause');
    if(s[o+aLeft]===1&&s[KO(k)+kSt]===APPR&&s[o+aW]>=1&&V.leaveMark) bad('P11-late-surprise','an approved action first leaves after its hour');
    const ver=s[o+aLeft]>1&&V.bytes==='rebuilt'?s[gVer]:V.toolChanged?s[o+aVer]:(s[o+aLeft]>1?s[o+aVer]:s[gVer]);
    set(s,k,who,H,0,ctx); addOp(s,4,k,a,ver|(s[gAcc]<<1),who); }
  function consult(s,k){ const r=KO(k), st=s[r+kSt];
    if(st===NONE||st===FAIL||(st===EXEC&&C.ask)||(C.ask&&!V.askFinal&&open(st)&&s[AO(k,s[r+kAtt])+aLeft]>0)) return check(s,k,FRESH);
    if(open(st)){ const o=AO(k,s[r+kAtt]); return s[o+aLeft]===0&&!(s[o+aClosed]&&V.closedFirst)?check(s,k,RESUME):settle(s,k,1); }
    end(s,k,1); }
  const sendable=(s,k,a)=>{ const o=AO(k,a); return (C.cls===1||V.resendUnkeyed)&&(V.keepMargin?s[o+aW]===0:true)&&!refusing(s,k)&&!paused(s)&&s[o+aLeft]<C.sends&&(!s[o+aClosed]); };
  /** An attempt that may have been sent is settled, never judged. */
  function settle(s,k,who){ const a=att(s,k,who), o=AO(k,a);
    if(s[o+aNote]===1) return final(s,k,who,true);
    if(s[o+aClosed]) return final(s,k,who,false);
    if(V.place&&s[o+aPlace]!==s[gAcc]) return end(s,k,who);
    if(V.unknown==='judge'&&kind(s,k,who)===CALL) return check(s,k,RESUME);
    if(V.rise==='any'&&kind(s,k,who)===CALL){ s[KO(k)+kSt]=FAIL; return check(s,k,FRESH); }
    if(C.lookup&&(V.lookFirst||!sendable(s,k,a))) return set(s,k,who,LK,0,s[o+aQ]);
    if(sendable(s,k,a)) return journal(s,k,who,0);
    end(s,k,who); }
  function afterCheck(s,k,res){ const r=KO(k), ctx=s[r+rCtx], st=s[r+kSt];
    if(ctx===FRESH){ if(res!==1||s[gTold]||paused(s)) return end(s,k,1);
      const a=s[r+kAtt]===0?1:s[r+kAtt]+1; if(a>C.atts){ s[gCut]=1; return; }
      s[r+kAtt]=a; const o=AO(k,a); s[o+aVer]=s[o+aGVer]=s[gVer]; s[o+aPlace]=s[gAcc];
      if(C.conf||(C.ask&&a>1&&V.askApproval)){ s[r+kSt]=PEND; return end(s,k,1); }
      s[r+kSt]=CLAIM; return journal(s,k,1,0); }
    const a=s[r+kAtt], o=AO(k,a);
    if(ctx===DECIDE){ if(st!==PEND) return end(s,k,1); if(res===2||paused(s)) return end(s,k,1); s[o+aPlace]=s[gAcc];
      if(res!==1||s[gTold]||(V.toolChanged&&s[o+aVer]!==s[gVer])){ s[r+kSt]=FAIL; return end(s,k,1); }
      s[r+kSt]=APPR; s[o+aApr]=1; return journal(s,k,1,0); }
    if(res===2) return end(s,k,1);
    const changed=V.toolChanged&&s[o+aVer]!==s[gVer];
    if(paused(s)&&st===APPR&&s[o+aW]<1) return end(s,k,1);
    if(paused(s)&&st===CLAIM) return final(s,k,1,false);
    if(res!==1||s[gTold]||changed||(st===APPR&&s[o+aW]>=1&&V.waitHour)) return final(s,k,1,false);
    if(V.unknown==='judge'&&s[o+aLeft]>0) return sendable(s,k,a)?journal(s,k,1,0):end(s,k,1);
    journal(s,k,1,0); }
  function afterJ(s,k,who,res){ const a=att(s,k,who), o=AO(k,a);
    if(res===OPEN) return leave(s,k,who,0);
    if(res===VOID) return toFailed(s,k,who); if(res===APPL) return toExecuted(s,k,who);
    if(res===HOLD) return s[o+aLeft]===0||V.holdVoids?final(s,k,who,false):end(s,k,who);
    if(res===HOLDP) return s[o+aLeft]===0&&s[KO(k)+kSt]===CLAIM?final(s,k,who,false):end(s,k,who);
    end(s,k,who); }
  function afterH(s,k,who,res){ const a=att(s,k,who), o=AO(k,a); if(who===1&&(res===hAPP||(res===hREF&&(C.refusalsKept||s[o+aAlone])))) s[o+aGot]=1;
    if(res===hAPP) return final(s,k,who,true);
    if(res===hREF&&(C.refusalsKept||!V.refusedAlone||s[o+aAlone])) { if(who===1) reach.add(3); return final(s,k,who,false); }
    if(res===hPRE&&V.prelook==='refused') return final(s,k,who,false);
    if(res===hMIS&&V.mismatch==='refused') return final(s,k,who,false);
    end(s,k,who); }
  function afterLook(s,k,who,res,q){ const a=att(s,k,who), o=AO(k,a);
    if(res===1){ if(who===1) reach.add(2); return final(s,k,who,true); }
    if(res===3){ reach.add(13); return final(s,k,who,false); }
    if(res===2) return end(s,k,who);
    if(sendable(s,k,a)) return journal(s,k,who,0);
    const proven=V.quiet?(V.quietAt==='issue'?q:s[o+aQ])>=(V.lag?2:1):true;
    if(proven) { if(who===1) reach.add(4); return final(s,k,who,false); }
    end(s,k,who); }
  function toExecuted(s,k,who){ if(!write(s,k,who)) return; const r=KO(k), o=AO(k,s[r+kAtt]); if(s[o+aRow]!==1) bad('P5-ok-without-row','told OK without an applied row');
    s[r+kSt]=EXEC; reach.add(s[o+aLeft]>1?1:0); if(C.conf) reach.add(11); if(s[gTold]) reach.add(12); if(s[r+rKind]===OPER) reach.add(6); end(s,k,1); }
  function toFailed(s,k,who){ if(!write(s,k,who)) return; const r=KO(k), o=AO(k,s[r+kAtt]); s[r+kSt]=FAIL; if(s[o+aLeft]===0) reach.add(5); else if(s[gTold]) reach.add(12); if(s[r+rKind]===OPER) reach.add(7); end(s,k,1); }
  // ---- D1 and backend
  function landD1(s,j){ const {t,k,a,own}=dec(s,j), o=AO(k,a); s[OO(j)]=s[OO(j)+1]=0; let res;
    if(t===1){
      if(V.jRow&&s[o+aRow]) res=s[o+aRow]===1?APPL:VOID;
      else { let busy=false, applied=0; for(let q=0;q<C.keys;q++) for(let b=1;b<=C.atts;b++){ const p=AO(q,b); if(s[p+aOpen]&&(q!==k||b!==a)) busy=true; if(s[p+aRow]===1) applied++; }
        const dead=s[gLive]>0&&V.jLive, pau=pausedInD1(s)&&V.jPause, refuse=dead||pau||(busy&&V.lock)||(V.ceiling&&applied+1>C.total), mayWait=V.waits&&!dead&&(pau||(busy&&V.lock))&&s[KO(k)+kSt]===APPR;
        if(s[o+aOpen]) res=dead?HOLD:pau?HOLDP:OPEN;
        else if(refuse&&mayWait) res=WAIT;
        else if(refuse){ if(!V.waits&&!dead&&busy&&s[KO(k)+kSt]===APPR) bad('P12-approved-voided','an approved action is void because its subject is busy'); if(!s[o+aRow]) s[o+aRow]=2; res=VOID; }
        else { s[o+aOpen]=1; res=OPEN; if(s[gLive]>0) bad('P8-opened-after-dead',`attempt ${a} opened for a caller that is not live`); if(s[gPA]&&pausedInD1(s)) bad('P8-opened-under-pause',`attempt ${a} opened after the pause was answered`); }
        if(own===1&&kind(s,k,own)===OPER&&s[o+aOpen]) res=OPEN; } }
    else { if(V.writeOnce?!s[o+aRow]:true) s[o+aRow]=t===2?1:2; s[o+aOpen]=0; res=s[o+aRow]===1?APPL:VOID; }
    if(own) set(s,k,own,t===1?JR:FR,res,own===1?s[KO(k)+rCtx]:s[KO(k)+zCtx]); return RN[res]; }
  function landH(s,j,how){ const {k,a,ver,own}=dec(s,j), o=AO(k,a); if(how!=='copy') s[OO(j)]=s[OO(j)+1]=0; let res;
    if(how==='pre') res=hPRE;
    else if(knows(s,k,a,ver)) res=s[o+aKVer]!==ver?hMIS:s[o+aKept]===1?hAPP:hREF;
    else if(s[gAllow]&&total(s)<C.backendLimit){ s[o+aCnt]++; s[o+aVis]=C.lookup?s[o+aVis]:0; s[o+aKept]=C.cls===1?1:0; s[o+aKVer]=ver; res=hAPP; if(!own) reach.add(9);
      if(s[o+aCnt]>1) bad('P1-twice',`attempt ${a} executed ${s[o+aCnt]} times`);
      let n=0; for(let b=1;b<=C.atts;b++) n+=net(s,AO(k,b)); if(n>1&&!(C.ask&&[...Array(C.atts)].every((_,i)=>i===0||!net(s,AO(k,i+1))||s[AO(k,i+1)+aApr]))) bad('P1-intent-twice',`one intent executed ${n} times`);
      if(s[o+aRow]===2) bad('P2-applied-after-void',`attempt ${a} executed after its void`);
      if((ver&1)!==s[o+aGVer]) bad('P6-other-bytes',`attempt ${a}: what was executed is not what was ${C.conf?'approved':'claimed'}`);
      if(C.conf&&!s[o+aApr]) bad('P6-no-approval',`attempt ${a} executed without the approval that was due`);
      if(total(s)>C.total) bad('P10-subject-total',`executed ${total(s)} on a subject that allows ${C.total}`); }
    else { res=hREF; if(C.cls===1&&C.refusalsKept){ s[o+aKept]=2; s[o+aKVer]=ver; } }
    if(own&&how!=='copy') set(s,k,own,HR,res,own===1?s[KO(k)+rCtx]:s[KO(k)+zCtx]); return HN_[res]; }
  function crash(s,k){ const r=KO(k), pc=s[r+rPc];
    if(C.zombie&&!s[r+zPc]&&pc){ passOn(s,k); s[r+zPc]=pc; s[r+zArg]=s[r+rArg]; s[r+zCtx]=s[r+rCtx]; s[r+zAtt]=s[r+kAtt]; if(pc===CHK) s[r+zPc]=s[r+zAtt]=s[r+zCtx]=0; s[r+rPc]=s[r+rArg]=s[r+rKind]=s[r+rCtx]=0; }
    else end(s,k,1); }
  function startAlarm(s,k){ const r=KO(k), a=s[r+kAtt], o=AO(k,a); s[r+rKind]=ALARM;
    if(s[o+aLeft]===0){ if(s[r+kSt]===CLAIM||(s[o+aW]>=1&&V.waitHour)) return final(s,k,1,false); return check(s,k,RESUME); }
    settle(s,k,1); }
  const settleable=(s,k)=>open(s[KO(k)+kSt])&&!s[KO(k)+rPc];
  const idleAlarm=(s,k)=>{ if(!settleable(s,k)) return false; const a=s[KO(k)+kAtt], o=AO(k,a); if(V.place&&s[o+aLeft]>0&&s[o+aPlace]!==s[gAcc]&&!s[o+aNote]&&!s[o+aClosed]) return false; if(s[o+aLeft]===0||s[o+aNote]||s[o+aClosed]) return true; return C.lookup||sendable(s,k,a); };
  // operator: from the backend's own records, once nothing can be on its way
  function oper(s,k,truth){ const r=KO(k); s[r+rKind]=OPER; if(truth) final(s,k,1,true); else { final(s,k,1,false); } }

  function* next(s0){ let s; const cl=()=>s0.slice();
    for(let k=0;k<C.keys;k++){ const r=KO(k), tag=C.keys>1?` [${k}]`:'';
      if(s0[r+kCalls]<C.calls&&!s0[r+rPc]&&!s0[gTold]){ s=cl(); s[r+kCalls]++; s[r+rKind]=CALL; consult(s,k); yield ['call arrives'+tag,s]; }
      if(idleAlarm(s0,k)){ s=cl(); startAlarm(s,k); yield ['alarm'+tag,s]; }
      if(s0[r+kSt]===PEND&&!s0[r+rPc]){ s=cl(); s[r+rKind]=DEC; check(s,k,DECIDE); yield ['approver approves'+tag,s]; s=cl(); s[r+kSt]=REJ; yield ['approver rejects'+tag,s]; }
      if(C.oper&&settleable(s0,k)){ const a=s0[r+kAtt], o=AO(k,a); if(s0[o+aLeft]>0&&!s0[o+aNote]){
          const truth=net(s0,o)>0, vis=s0[o+aVis]||s0[o+aQ]===2;
          if(truth&&vis){ s=cl(); oper(s,k,true); yield ['operator settles: applied'+tag,s]; }
          else if(s0[o+aQ]===2||!V.operQuiet){ s=cl(); oper(s,k,false); yield ['operator settles: not applied'+tag,s]; }
          if(C.operResend&&C.cls===1&&(!s0[o+aClosed]||!V.closedFinal)&&s0[o+aW]<2&&s0[o+aLeft]<3&&s0[gOR]<C.opResends){ s=cl(); s[gOR]++; s[r+rKind]=OPER; journal(s,k,1,0); yield ['operator orders a resend'+tag,s]; } } }
      if(s0[r+rPc]===CHK){ s=cl(); afterCheck(s,k,s[gAllow]&&total(s)<C.backendLimit?1:0); yield [`check reads the backend: ${s0[gAllow]&&total(s0)<C.backendLimit?'good':'refused'}${tag}`,s];
        if(s0[gNet]<C.net){ s=cl(); s[gNet]++; afterCheck(s,k,2); yield ['check cannot read'+tag,s]; } }
      for(const who of [1,2]){ const pc=who===1?s0[r+rPc]:s0[r+zPc]; if(!pc||pc===CHK) continue; const arg=who===1?s0[r+rArg]:s0[r+zArg], ctx=who===1?s0[r+rCtx]:s0[r+zCtx], w=(who===2?'replaced instance ':'')+(who===1?KN[s0[r+rKind]]:'')+tag;
        if(pc===JR||pc===FR){ s=cl(); (pc===JR?afterJ:(q,z,y,v)=>v===APPL?toExecuted(q,z,y):v===VOID?toFailed(q,z,y):end(q,z,y))(s,k,who,arg); yield [`${w} gets ${PN[pc]}: ${RN[arg]}`,s];
          if(s0[gD1]<C.d1){ s=cl(); s[gD1]++; (pc===JR?afterJ(s,k,who,ERR):end(s,k,who)); yield [`${w}: answer of D1 lost`,s]; } }
        else if(pc===J||pc===F){ if(s0[gD1]<C.d1){ s=cl(); s[gD1]++; disown(s,k,who); if(pc===J) afterJ(s,k,who,ERR); else end(s,k,who); yield [`${w}: D1 times out, ${PN[pc]} still on its way`,s]; } }
        else if(pc===HR){ s=cl(); afterH(s,k,who,arg); yield [`${w} gets answer: ${HN_[arg]}`,s];
          if(s0[gNet]<C.net){ s=cl(); s[gNet]++; afterH(s,k,who,hNO); yield [`${w}: answer of the backend lost`,s]; } }
        else if(pc===H){ if(s0[gNet]<C.net){ s=cl(); s[gNet]++; disown(s,k,who); afterH(s,k,who,hNO); yield [`${w}: no answer in time, request still on its way`,s]; } }
        else if(pc===LK){ const a=att(s0,k,who), o=AO(k,a); s=cl(); const f=s0[o+aCnt]>0&&s0[o+aVis]&&(s0[o+aKVer]>>1)===s0[gAcc]; set(s,k,who,LKR,f?(net(s0,o)?1:3):0,ctx); yield [`backend serves look-up: ${f?(net(s0,o)?'found':'found, failed for good'):'absent'}${tag}`,s]; }
        else if(pc===LKR){ s=cl(); afterLook(s,k,who,arg,ctx); yield [`${w} gets look-up: ${arg?'found':'absent'}`,s];
          if(s0[gNet]<C.net){ s=cl(); s[gNet]++; afterLook(s,k,who,2,ctx); yield [`${w}: look-up fails`,s]; } } }
      if(s0[gCrash]<C.crashes&&s0[r+rPc]){ s=cl(); s[gCrash]++; crash(s,k); yield ['object dies'+tag,s]; }
      if(s0[r+zPc]){ s=cl(); end(s,k,2); yield ['replaced instance is gone'+tag,s]; }
      for(let a=1;a<=C.atts;a++){ const o=AO(k,a);
        if(s0[o+aGLeft]&&!s0[o+aRow]){
          if(s0[o+aQ]===0&&(!flying(s0,k,a)||C.unbounded)){ s=cl(); s[o+aQ]=1; yield [`clock: nothing of attempt ${a} can be on its way any more${tag}`,s]; }
          if(s0[o+aQ]===1){ s=cl(); s[o+aQ]=2; if(s[o+aCnt]) s[o+aVis]=1; yield [`clock: look-ups of attempt ${a} are up to date${tag}`,s]; }
          if(s0[o+aCnt]&&!s0[o+aVis]&&C.lookup){ s=cl(); s[o+aVis]=1; yield ['backend: effect shows in look-ups'+tag,s]; } }
        if(a===s0[r+kAtt]&&(open(s0[r+kSt]))){ if(s0[o+aW]<2){ s=cl(); s[o+aW]++; yield [`clock: ${s[o+aW]===1?'window for resends ends':'no send may leave any more (keys end soon)'}${tag}`,s]; } }
        if(C.reversals&&s0[o+aCnt]===1&&!s0[o+aRev]&&s0[o+aRow]!==1){ s=cl(); s[o+aRev]=1; yield ['backend: what it accepted fails for good'+tag,s]; }
        if(C.revivals&&s0[o+aRev]){ s=cl(); s[o+aRev]=0; yield ['backend: what failed for good succeeds after all'+tag,s]; }
        if(s0[o+aKept]&&(C.earlyPrune||(s0[o+aW]===2&&!flying(s0,k,a)))&&!s0[o+aRow]){ s=cl(); s[o+aKept]=0; if(s[o+aW]===2) s[o+aW]=3; reach.add(10); yield ['backend forgets the key'+tag,s]; } } }
    for(let j=0;j<MAXOPS;j++) if(s0[OO(j)]){ const o=dec(s0,j), late=o.own?'':'LATE '; s=cl();
      if(o.t!==4){ const x=landD1(s,j); yield [`${late}${['','journal','final applied','final void'][o.t]} of attempt ${o.a} lands: ${x}`,s]; }
      else { const x=landH(s,j,''); yield [`${late}request of attempt ${o.a} (bytes ${o.ver}) lands: ${x}`,s];
        if(!o.own){ s=cl(); s[OO(j)]=s[OO(j)+1]=0; yield [`request of attempt ${o.a} is lost`,s]; }
        else if(s0[gNet]<C.net){ s=cl(); s[gNet]++; s[OO(j)]=s[OO(j)+1]=0; set(s,o.k,o.own,HR,hNO,0); yield [`request of attempt ${o.a} is lost`,s]; }
        if(s0[gPre]<C.prelook){ s=cl(); s[gPre]++; landH(s,j,'pre'); yield [`${late}request of attempt ${o.a} is refused before its key is looked up`,s]; }
        if(s0[gDup]<C.dups){ s=cl(); s[gDup]++; addOp(s,4,o.k,o.a,o.ver,0); yield [`the network copies the request of attempt ${o.a}`,s]; } } }
    if(s0[gFlip]<C.flips){ s=cl(); s[gFlip]++; s[gAllow]^=1; yield [`backend ${s[gAllow]?'allows':'forbids'} the effect from now on`,s]; }
    if(s0[gAcc]<C.rotates){ s=cl(); s[gAcc]=1; for(let k=0;k<C.keys;k++) if(s[KO(k)+rPc]) crash(s,k); /* new secrets start new instances */ yield ['the secret is now another account\'s',s]; }
    if(s0[gDep]<C.deploys){ s=cl(); s[gDep]++; s[gVer]^=1; yield ['deploy: the tool builds other bytes',s]; }
    if(C.pause){ const p=s0[gPau];
      if(p===0&&s0[gPN]<C.pause){ s=cl(); s[gPN]++; s[gPau]=1; yield ['pause in D1',s]; }
      if(p===1){ s=cl(); s[gPau]=2; yield ['session told of the pause',s]; }
      if((p===1||p===2)&&!s0[gPA]){ s=cl(); s[gPA]=1; yield ['the pause is answered',s]; }
      if(p===1||p===2){ s=cl(); s[gPau]=p===2?3:0; s[gPA]=0; yield ['pause lifted in D1',s]; }
      if(p===3){ s=cl(); s[gPau]=0; yield ['session told that the pause is lifted',s]; } }
    if(C.revoke){ if(!s0[gLive]){ s=cl(); s[gLive]=1; yield ['DELETE caller: dead in D1',s]; }
      else if(!s0[gTold]&&!s0[gAns]){ s=cl(); s[gTold]=1; for(let k=0;k<C.keys;k++) if(s[KO(k)+kSt]===PEND) s[KO(k)+kSt]=FAIL; yield ['sessions told',s]; s=cl(); s[gAns]=2; yield ['DELETE answers 202, session not told',s]; }
      else if(!s0[gTold]){ s=cl(); s[gTold]=1; for(let k=0;k<C.keys;k++) if(s[KO(k)+kSt]===PEND) s[KO(k)+kSt]=FAIL; yield ['session told by queue',s]; }
      else if(!s0[gAns]){ s=cl(); s[gAns]=1; yield ['DELETE answers 200',s]; } } }

  function checkState(s){ for(let k=0;k<C.keys;k++){ const r=KO(k), st=s[r+kSt]; let opens=0;
      for(let a=1;a<=C.atts;a++){ const o=AO(k,a); opens+=s[o+aOpen];
        if(s[o+aRow]===2){ if(net(s,o)) bad('P2-void-but-applied',`attempt ${a} is void in D1 and executed at the backend`); else if(canStill(s,k,a)) bad('P2-void-can-apply',`attempt ${a} is void while a request of it can still be executed`); }
        if(s[o+aRow]===1&&!s[o+aCnt]) bad('P5-applied-row-without-effect',`attempt ${a} is applied in D1, nothing was executed`);
        if((st===FAIL||st===REJ||st===PEND||st===NONE)&&!(C.ask&&s[o+aRow]===1)&&(net(s,o)||canStill(s,k,a))) bad('P3-closed-but-applied',`record ${SN[st]} while attempt ${a} ${net(s,o)?'is executed':'can still be executed'}`);
        if(s[o+aGLeft]&&!s[o+aRow]&&!s[o+aOpen]) bad('P7-not-reserved',`attempt ${a} may have been sent, D1 holds neither its open row nor its final row`);
        if((net(s,o)||canStill(s,k,a))&&a!==s[r+kAtt]&&!(C.ask&&s[o+aRow]===1)) bad('P7-forgotten',`attempt ${a} ${net(s,o)?'is executed':'can still be executed'} while the record stands at attempt ${s[r+kAtt]}`); }
      if(!open(st)&&!s[r+rPc]&&opens&&!hasOps(s,k)) bad('P7-open-row-left',`record ${SN[st]}, nothing on its way, D1 still holds an open row`); }
    if(C.keys>1){ let n=0; for(let k=0;k<C.keys;k++) for(let a=1;a<=C.atts;a++) n+=s[AO(k,a)+aOpen]; if(n>1&&V.lock) bad('P10-two-open','two open rows of one subject'); } }
  const hasOps=(s,k)=>{ if(s[KO(k)+zPc]) return true; for(let j=0;j<MAXOPS;j++) if(s[OO(j)]&&dec(s,j).k===k) return true; return false; };
  const quiescent=s=>{ for(let k=0;k<C.keys;k++) if(s[KO(k)+rPc]||hasOps(s,k)) return false; return true; };
  /** From here without faults: does everything end, or wait where the operator sees it, and end by the operator's word? */
  function recover(s0){ const s=s0.slice(), sv=viol; viol=[]; let why=null; s[gPau]=0; s[gPA]=0;
    const drive=()=>{ for(let n=0;n<60;n++){ let did=false; for(let k=0;k<C.keys&&!did;k++){ const r=KO(k), pc=s[r+rPc], arg=s[r+rArg], ctx=s[r+rCtx];
          if(pc===CHK){ afterCheck(s,k,s[gAllow]&&total(s)<C.backendLimit?1:0); did=true; }
          else if(pc===JR){ afterJ(s,k,1,arg); did=true; } else if(pc===FR){ arg===APPL?toExecuted(s,k,1):toFailed(s,k,1); did=true; }
          else if(pc===HR){ afterH(s,k,1,arg); did=true; } else if(pc===LK){ { const o=AO(k,s[r+kAtt]); set(s,k,1,LKR,s[o+aCnt]>0&&s[o+aVis]?(net(s,o)?1:3):0,ctx); } did=true; }
          else if(pc===LKR){ afterLook(s,k,1,arg,ctx); did=true; } }
        if(!did) for(let j=0;j<MAXOPS;j++) if(s[OO(j)]){ const o=dec(s,j); o.t===4?landH(s,j,''):landD1(s,j); did=true; break; }
        if(!did) return; } };
    const isOpen=()=>{ for(let k=0;k<C.keys;k++) if(open(s[KO(k)+kSt])) return true; return false; };
    for(let n=0;n<12&&isOpen();n++) for(let k=0;k<C.keys;k++) if(open(s[KO(k)+kSt])){ const o=AO(k,s[KO(k)+kAtt]);
        if(idleAlarm(s,k)){ startAlarm(s,k); drive(); }
        if(open(s[KO(k)+kSt])){ if(s[o+aQ]<2&&s[o+aGLeft]){ s[o+aQ]++; if(s[o+aQ]===2&&s[o+aCnt]) s[o+aVis]=1; } else if(s[o+aW]<2) s[o+aW]++; } }
    if(isOpen()&&C.lookup&&!C.rotates) why='stays open although look-ups answer';
    for(let k=0;k<C.keys;k++) if(open(s[KO(k)+kSt])){ const o=AO(k,s[KO(k)+kAtt]); if(!s[o+aOpen]) why='waits for the operator, but D1 shows nothing open'; if(s[o+aGot]) why='the final answer had come, now only the operator can tell';
      s[o+aQ]=2; if(s[o+aCnt]) s[o+aVis]=1; oper(s,k,net(s,o)>0); drive(); if(open(s[KO(k)+kSt])) why='stays open although the operator settled it'; }
    viol=sv; return why; }
  const describe=s=>{ const o=[]; for(let k=0;k<C.keys;k++){ const r=KO(k); o.push(`${SN[s[r+kSt]]} a${s[r+kAtt]}`+[...Array(C.atts)].map((_,i)=>{ const p=AO(k,i+1); return ` ${i+1}:left${s[p+aLeft]}${s[p+aNote]?' noted':''}${s[p+aClosed]?' closed':''} D1=${s[p+aOpen]?'open':['-','applied','void'][s[p+aRow]]} done=${s[p+aCnt]}`; }).join('')); } return o.join(' | '); };

  // ---- breadth-first search over exact states: one buffer, open addressing
  const MAX=C.maxStates, store=Buffer.alloc(MAX*W); let HN=1; while(HN<MAX*2) HN*=2; const table=new Int32Array(HN).fill(-1), parent=new Int32Array(MAX), act=new Int32Array(MAX), labels=[], ids=new Map(); let n=0;
  const lab=t=>{ let i=ids.get(t); if(i===undefined){ i=labels.length; labels.push(t); ids.set(t,i); } return i; };
  function add(s,p,a){ let h=2166136261; for(let i=0;i<W;i++){ h^=s[i]; h=Math.imul(h,16777619); } h^=h>>>15; h=Math.imul(h,2246822519); h^=h>>>13; h=(h>>>0)&(HN-1);
    for(;;){ const i=table[h]; if(i<0) break; const b=i*W; let eq=true; for(let j=0;j<W;j++) if(store[b+j]!==s[j]){ eq=false; break; } if(eq) return -1; h=(h+1)&(HN-1); }
    if(n>=MAX) return -2; table[h]=n; store.set(s,n*W); parent[n]=p; act[n]=a; return n++; }
  const trace=i=>{ const t=[]; while(i>0){ t.push(labels[act[i]]+'   {'+describe(store.subarray(i*W,i*W+W))+'}'); i=parent[i]; } return t.reverse(); };
  const t0=Date.now(), found=new Map(); let cut=0,trans=0,full=false,checked=0,i=0; const first=new Uint8Array(W); first[gAllow]=1; add(first,-1,0);
  outer: for(;i<n;i++){ if((i&4095)===0&&Date.now()-t0>C.secs*1000){ full=true; break; } const s=new Uint8Array(store.subarray(i*W,i*W+W)); viol=[];
    for(const [l,t] of next(s)){ trans++; if(t[gCut]){ cut++; viol=[]; continue; } normOps(t); checkState(t); const vv=viol; viol=[]; const j=add(t,i,lab(l)); if(j===-2){ full=true; break outer; }
      if(j>=0&&C.live&&quiescent(t)){ checked++; const why=recover(t); if(why) vv.push(['P9-not-settled',why]); }
      for(const [id,why] of vv) if(!found.has(id)){ found.set(id,{why,trace:[...trace(i),l+'   {'+describe(t)+'}']}); if(!C.keepGoing) break outer; } } }
  return { name: arg.name, states: n, transitions: trans, cut, complete: !full, secs: (Date.now()-t0)/1000, quiescent: checked, reached: [...reach].sort((a,b)=>a-b).map(x=>REACH[x]), violations: [...found].map(([id,v])=>({id,...v})) };
}

// ---- what is explored
const S = (name, cfg) => ({ name, cfg });
const K1 = { cls: 1, lookup: true }, K1N = { cls: 1, lookup: false }, L = { cls: 2, lookup: true }, O = { cls: 3, lookup: false };
export const CLASSES = { 'key and look-up': K1, 'key only': K1N, 'look-up only': L, 'neither': O };
export const CONFIGS = [];
for (const [name, c] of Object.entries(CLASSES)) CONFIGS.push(
  S(`${name}: 2 calls, 2 crashes, 2 network and 1 D1 fault`, { ...c, crashes: 2, net: 2 }),
  S(`${name}: backend changes its mind twice and allows one`, { ...c, flips: 2, backendLimit: 1 }),
  S(`${name}: 401 before the key, copies on the way, changes its mind`, { ...c, calls: 1, flips: 1, prelook: 1, dups: c.cls === 1 ? 1 : 0, backendLimit: 1 }),
  S(`${name}: refusals not kept under the key`, { ...c, refusalsKept: false, flips: 2, sends: 2 }),
  S(`${name}: approval, deploy`, { ...c, conf: 1, deploys: 1, flips: 1 }),
  S(`${name}: revocation`, { ...c, revoke: 1 }),
  S(`${name}: revocation, approval, backend changes its mind`, { ...c, revoke: 1, conf: 1, flips: 1 }),
  S(`${name}: secret of another account, operator orders a resend`, { ...c, rotates: 1, operResend: 1 }),
  S(`${name}: accepted, then failed for good`, { ...c, reversals: 1, calls: 2, flips: c.cls === 1 ? 0 : 1 }),
  S(`${name}: pause`, { ...c, pause: 1 }),
  S(`${name}: pause, approval`, { ...c, pause: 1, conf: 1, calls: 1 }),
  S(`${name}: asked again under "ask"`, { ...c, ask: 1, total: 2, calls: 2, crashes: 1, net: 1 }),
  S(`${name}: two approved actions, one subject`, { ...c, keys: 2, atts: 1, calls: 1, total: 2, net: 1, d1: 0, crashes: 1, zombie: 0, conf: 1 }),
  S(`${name}: two sessions, one subject`, { ...c, keys: 2, atts: 1, calls: 1, total: 1, net: 1, d1: 1, crashes: 1, zombie: 1 }));
const B = (name, V, cfg, expect) => ({ name, V, cfg, expect });
export const PLANTED = [
  B('no journal before the send', { journal: false }, { ...K1, keys: 2, atts: 1, calls: 1, total: 1, keepGoing: true, maxStates: 3e5 }, 'P10'),
  B('no journal before the send, caller revoked', { journal: false, told: false }, { ...K1, revoke: 1, keepGoing: true, maxStates: 3e5 }, 'P8'),
  B('no durable mark before the send', { leaveMark: false }, K1, 'P2|P1|P3'),
  B('void leaves for D1 before sends are forbidden', { noMore: false }, { ...K1, crashes: 2, net: 1 }, 'P2|P3'),
  B('closed attempt is judged again', { closedFirst: false, leaveChecks: false }, K1, 'P2'),
  B('window not read again after the journal', { leaveChecks: false }, K1, 'P1'),
  B('resends beyond the window', { keepMargin: false, leaveChecks: false }, K1N, 'P1'),
  B('absent = not applied, at once', { quiet: false }, L, 'P2|P3'),
  B('quiet period judged when the look-up returns', { quietAt: 'resume' }, { ...L, net: 2 }, 'P2|P3'),
  B('quiet period counted from the first send', { quietFrom: 'first' }, { ...K1, net: 2 }, 'P2|P3'),
  B('lag of look-ups ignored', { lag: false }, L, 'P2|P3'),
  B('401 and its kind taken as a refusal', { prelook: 'refused' }, { ...K1N, prelook: 1 }, 'P2|P3'),
  B('refusal final although another send is on its way', { refusedAlone: false }, { ...K1N, refusalsKept: false, flips: 2 }, 'P2|P3'),
  B('bytes rebuilt on a resend', { bytes: 'rebuilt' }, { ...K1N, deploys: 1 }, 'P6'),
  B('"key used with other parameters" taken as a refusal', { bytes: 'rebuilt', mismatch: 'refused' }, { ...K1N, deploys: 1, keepGoing: true }, 'P2'),
  B('contract not compared at approval', { toolChanged: false }, { ...K1, conf: 1, deploys: 1 }, 'P6'),
  B('unknown judged afresh by stage 5', { unknown: 'judge' }, { ...K1, backendLimit: 1 }, 'P2'),
  B('attempt number rises while unknown', { rise: 'any' }, K1, 'P3|P1'),
  B('late journal reopens a settled attempt', { jRow: false }, K1, 'P7|P9'),
  B('journal without the live-caller guard', { jLive: false }, { ...K1, revoke: 1 }, 'P8'),
  B('leaving without looking at the revocation told', { told: false }, { ...K1, revoke: 1 }, 'P8'),
  B('revoked while unknown = void', { holdVoids: true }, { ...K1, revoke: 1 }, 'P2|P3'),
  B('no lock and no ceiling of the subject', { lock: false, ceiling: false }, { ...K1, keys: 2, atts: 1, calls: 1, total: 1 }, 'P10'),
  B('lock without ceiling', { ceiling: false }, { ...K1, keys: 2, atts: 1, calls: 1, total: 1 }, 'P10'),
  B('ceiling without lock', { lock: false }, { ...K1, keys: 2, atts: 1, calls: 1, total: 1 }, 'P10'),
  B('resend to a backend without keys', { resendUnkeyed: true }, { ...O, net: 1 }, 'P1'),
  B('operator may void before the quiet period', { operQuiet: false }, O, 'P2|P3'),
  B('an order to resend lifts the ban on sends', { closedFinal: false }, { ...K1, operResend: 1, flips: 1, net: 1 }, 'P2|P3'),
  B('account behind the secret not compared', { place: false }, { ...K1, rotates: 1 }, 'P1|P2|P3'),
  B('final answer not noted before D1', { note: false }, O, 'P9'),
  B('pause not read by the journal', { jPause: false }, { ...K1, pause: 1 }, 'P8'),
  B('pause not read at the mark', { pTold: false, jPause: false }, { ...K1, pause: 1 }, 'P8'),
  B('approved action void because its subject is busy', { waits: false }, { ...O, keys: 2, atts: 1, calls: 1, total: 2, conf: 1, zombie: 0, net: 1, d1: 0 }, 'P12'),
  B('approved action that waited leaves after its hour', { waitHour: false, leaveChecks: false }, { ...O, keys: 2, atts: 1, calls: 1, total: 2, conf: 1, zombie: 0, net: 1, d1: 0 }, 'P11'),
  B('asked again before the last attempt is final', { askFinal: false }, { ...K1, ask: 1, total: 2 }, 'P7|P1|P3'),
  B('asked again without a person', { askApproval: false }, { ...K1, ask: 1, total: 2 }, 'P1'),
  B('D1 rows not written once', { writeOnce: false }, K1, ''),
];
// what the design takes for granted; broken on purpose
export const ASSUMED = [
  B('backend forgets keys earlier than it says (with look-up)', {}, { ...K1, earlyPrune: 1 }, ''),
  B('backend forgets keys earlier than it says (key only)', {}, { ...K1N, earlyPrune: 1 }, 'P1'),
  B('the network copies a request, backend without keys', {}, { ...L, dups: 1 }, 'P1'),
  B('the network copies a request, refusals not kept under the key', {}, { ...K1N, refusalsKept: false, dups: 1, flips: 2 }, 'P2|P3'),
  B('what a recipe calls a terminal failure succeeds later', {}, { ...K1, reversals: 1, revivals: 1 }, 'P2|P3'),
  B('a request may be executed later than the quiet period', {}, { ...L, unbounded: 1 }, 'P2|P3'),
];
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const show = (r, traces) => { for (const v of r.violations) { console.log(`   !! ${v.id}: ${v.why}`); if (traces) for (const l of v.trace) console.log('        ' + l); } };
  if (process.argv[2]?.startsWith('{')) { const r = explore(JSON.parse(process.argv[2])); console.log(`${r.name ?? ''} states=${r.states} transitions=${r.transitions} cut=${r.cut} complete=${r.complete} ${r.secs}s`); show(r, true); console.log('reached: ' + r.reached.join('; ')); }
  else {
    const parts = process.argv[2] ?? 'all', reached = new Set(); let states = 0, trans = 0, ok = true;
    if (parts === 'all' || parts.startsWith('design')) { const only = parts.split(':')[1]; for (const c of CONFIGS.filter(({ name }) => only === undefined || name.startsWith(only))) { const r = explore({ ...c, cfg: { maxStates: 6e6, secs: 240, ...c.cfg } }); states += r.states; trans += r.transitions; r.reached.forEach(x => reached.add(x)); if (r.violations.length || !r.complete) ok = false;
        console.log(`${r.violations.length ? 'BROKEN' : r.complete ? 'clean ' : 'CUT   '} ${String(r.states).padStart(8)} states ${String(r.transitions).padStart(9)} steps ${r.secs.toFixed(0).padStart(4)} s  ${c.name}`); show(r, true); }
      console.log(`design: ${states} states, ${trans} steps, ${CONFIGS.filter(({ name }) => only === undefined || name.startsWith(only)).length} configurations, ${ok ? 'no violation' : 'NOT CLEAN'}`); console.log('never reached: ' + (REACH.filter(x => !reached.has(x)).join('; ') || 'nothing')); }
    if (!parts.startsWith('design')) for (const [title, list] of [['planted', PLANTED], ['assumed', ASSUMED]]) { let caught = 0; for (const b of list) { const r = explore({ ...b, cfg: { maxStates: 3e6, ...b.cfg } }); const ids = r.violations.map(v => v.id), hit = b.expect === '' ? null : ids.some(i => new RegExp('^(' + b.expect + ')').test(i)); if (hit) caught++;
        console.log(`${title}: ${hit === null ? (ids.length ? 'broken' : 'holds ') : hit ? 'caught' : 'MISSED'} ${String(r.states).padStart(8)} states  ${b.name} -> ${ids.join(', ') || 'no violation'}${ids.length ? ` after ${r.violations[0].trace.length} steps` : r.complete ? '' : ' (not complete)'}`); }
      console.log(`${title}: ${caught} of ${list.filter(b => b.expect !== '').length}`); } }
}
