import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** A semaphore of three leases, used up, shared and freed. Each line is deterministic. */
final class SemaphoreScript {
    private static final int LEASES = 3;

    private final Interop.Arguments arguments;

    SemaphoreScript(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    private InterProcessSemaphoreV2 of(Actor actor) {
        return new InterProcessSemaphoreV2(actor.client, arguments.path, LEASES);
    }

    void run() throws Exception {
        Actor ann = new Actor("ann", arguments);
        Actor bob = new Actor("bob", arguments);
        InterProcessSemaphoreV2 hers = of(ann);
        InterProcessSemaphoreV2 his = of(bob);

        Lease first = hers.acquire();
        List<Lease> more = new ArrayList<>(his.acquire(2));
        System.out.println("leases in use: " + hers.getParticipantNodes().size());
        System.out.println("a fourth lease: " + hers.acquire(300, TimeUnit.MILLISECONDS));

        Future<Lease> next = ann.start(() -> hers.acquire(Clients.LIMIT_SECONDS, TimeUnit.SECONDS));
        his.returnLease(more.remove(0));
        System.out.println("after one came back: " + (Actor.result(next) != null));
        System.out.println("two at once with none free: " + his.acquire(2, 300, TimeUnit.MILLISECONDS));

        // The leases of a session end with it, here two of ann's.
        ann.close();
        more.addAll(his.acquire(2, Clients.LIMIT_SECONDS, TimeUnit.SECONDS));
        System.out.println("after ann left, bob has: " + more.size());
        System.out.println("ann's lease is gone: " + !his.getParticipantNodes().contains(first.getNodeName()));
        his.returnAll(more);
        System.out.println("leases in use: " + his.getParticipantNodes().size());
        bob.close();
        contend();
    }

    /**
     * * Six threads acquire leases, and none is released before three threads have one. The number of turns is a
     * multiple of three, and a thread that waits for the other two has one at most, so no thread waits for ever.
     */
    private void contend() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CyclicBarrier three = new CyclicBarrier(LEASES);
        List<Actor> actors = new ArrayList<>();
        List<Future<Void>> all = new ArrayList<>();
        for (int i = 0; i < 2 * LEASES; i++) {
            Actor actor = new Actor("actor-" + i, arguments);
            actors.add(actor);
            all.add(actor.start(() -> {
                InterProcessSemaphoreV2 semaphore = of(actor);
                while (turns.getAndIncrement() < 10 * LEASES) {
                    Lease lease = semaphore.acquire(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    three.await(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
                    now.decrementAndGet();
                    semaphore.returnLease(lease);
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            one.get();
        }
        System.out.println("most at once: " + most.get());
        for (Actor actor : actors) {
            actor.close();
        }
    }
}
