import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/**
 * * Lets contenders contend for one of the recipes until standard input ends, and writes who holds what, and when:
 * see {@link Ledger}. They share two clients, as the parts of a service do.
 */
final class Contest {
    /** How a contender acquires something, holds it and releases it, once. */
    interface Turns {
        void take(Ledger ledger) throws Exception;
    }

    /** Makes a contender. */
    private interface Recipe {
        Turns of(CuratorFramework client, String who, Interop.Arguments arguments);
    }

    private static final Map<String, Recipe> RECIPES = Map.of(
            "mutex", (client, who, arguments) -> new MutexTurns(client, arguments.path),
            "rwlock", (client, who, arguments) -> new ReadWriteTurns(client, arguments.path),
            "semaphore", (client, who, arguments) -> new SemaphoreTurns(client, arguments),
            "leader", (client, who, arguments) -> new LatchTurns(client, arguments.path, who),
            "multilock", (client, who, arguments) -> new MultiLockTurns(client, arguments.path));

    private final Recipe recipe;
    private final Interop.Arguments arguments;

    Contest(String recipe, Interop.Arguments arguments) {
        this.recipe = RECIPES.get(recipe);
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        List<CuratorFramework> clients = List.of(Clients.connect(arguments), Clients.connect(arguments));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < arguments.number("contenders", 1); i++) {
            CuratorFramework client = clients.get(i % clients.size());
            String who = "java-" + i;
            threads.add(new Thread(() -> contend(client, who, end), who));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (CuratorFramework client : clients) {
            client.close();
        }
    }

    private void contend(CuratorFramework client, String who, CountDownLatch end) {
        Ledger ledger = new Ledger(client, who);
        Turns turns = recipe.of(client, who, arguments);
        while (end.getCount() > 0) {
            try {
                turns.take(ledger);
            } catch (Exception failure) {
                // On a busy machine Curator's connection may fail; the next turn has a new one.
                ledger.miss(failure.getClass().getSimpleName());
            }
            try {
                end.await((long) (Math.random() * 5_000), TimeUnit.MICROSECONDS); // so that others are first sometimes
            } catch (InterruptedException never) {
                return;
            }
        }
    }
}
