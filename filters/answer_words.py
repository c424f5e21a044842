"""The words with which replies announce an answer, by language: patterns only, no code that reads replies."""

from __future__ import annotations

# Nouns that mean "answer". "Result", "solution" and "total" are not among them: what follows those is read as
# the last mathematics of the final paragraph.
ANSWER_NOUN = (
    r"(?:answers?|ans|resposta|respuestas?|r[ée]ponses?|risposta|antwort(?:en)?|l[öo]sung|ergebnis"
    r"|antwoord(?:en)?|ответ(?:ом)?|відповідь|odpowied[źz](?:i[ąa])?|odpov[ěe][dď]|svar(?:et)?|vastaus"
    r"|cevap|yan[ıi]t|r[ăa]spuns(?:ul)?|v[áa]lasz|jawaban(?:nya)?|[đd][áa]p (?:[áa]n|s[ốo])"
    r"|c[âa]u tr[ảa] l[ờo]i|απάντηση|उत्तर|উত্তর|الجواب|الإجابة|الاجابة|תשובה|התשובה|پاسخ|جواب|คำตอบ"
    r"|résultat final|resultado final|risultato finale|endergebnis|final result|final value)"
)
# Chinese, Japanese and Korean write without spaces, so these need no word boundary.
CJK_NOUN = r"(?:最终答案|正确答案|答案|解答|正解|答え|答|정답|답)"
ADJECTIVE = (
    r"(?:final|correct|right|numerical|numeric|exact|simplified|required|desired|short|boxed|complete"
    r"|overall|full|my|our|your|the|so|thus|finale?|correcta|endg[üu]ltige|die|das|la|el|a|o|il|het|le)"
)
# What may stand between the noun and its value. A colon makes the statement a label.
LABEL_SIGN = r"(?:[:：]|=>|→|⇒|➜|➡️?|-{1,2}>|[-–—](?=\s))"
VERB = (
    r"(?:is(?: (?:therefore|thus|simply|just|then|equal to|given by|clearly|indeed|still|now"
    r"|found to be))?|are|was|were|equals?|would be|will be|must be|should be|can be written as|comes to"
    r"|comes out (?:to|as)(?: be)?|becomes|turns out to be|remains|=|ist|sind|lautet|betr[äa]gt|es|son"
    r"|ser[íi]a|est|sont|vaut|é|são|è|sono|is dus|равен|равно|—|to|jest|je|är|er|on|este|adalah|là|είναι"
    r"|है|هو|هي|הוא|היא|คือ)"
)
CJK_VERB = r"(?:是|为|為|等于|应为|應為|应该是|は|이|은|는|가|즉)"

CONCLUSION = (
    r"(?:so|thus|therefore|hence|consequently|accordingly|finally|in conclusion|in summary|to summarize"
    r"|overall|altogether|in total|in all|we conclude|it follows|this means|that means|as a result"
    r"|which means|also|daher|somit|folglich|also gilt|insgesamt|donc|ainsi|par cons[ée]quent|finalement"
    r"|por lo tanto|por tanto|entonces|as[íi]|en total|en conclusi[óo]n|luego|portanto|logo|assim|quindi"
    r"|dunque|perci[òo]|pertanto|dus|итак|следовательно|значит|таким образом|zatem|wi[ęe]c|所以|因此|故"
    r"|综上|综上所述|于是|从而|よって|したがって|ゆえに|따라서|그러므로|vậy|do đó|suy ra|jadi"
    r"|oleh karena itu|∴|इसलिए|अतः|وبالتالي|إذن|לכן)"
)

# Paragraphs and sentences that follow an answer without being one.
ASIDE = (
    r"(?:as an? (?:\w+ )?(?:check|verification|remark|aside|note|sanity check)|(?:a |one )?(?:quick "
    r"|consistency |sanity |final )?(?:check|verification|proof check|double[- ]check)(?:ing)?\b|(?:to "
    r"|let(?:'s|’s| us| me) |we (?:can|may|could)(?: also)? |you (?:can|may|could)(?: also)? |i (?:can"
    r"|may) )(?:\w+ )?(?:check|verify|confirm|double[- ]check|validate)|verify(?:ing)?|confirming|indeed"
    r"|note\b|nota\b|notice|observe that|where\b|recall|it is (?:easy|straightforward|simple"
    r"|clear) to (?:check|verify|see|confirm)|remark|n\.?b\.?\b|remember|hint|tip|caution|warning"
    r"|keep in mind|for (?:reference|comparison|context|example)|by the way|the other (?:root|solution"
    r"|value|case)|in particular|incidentally|interestingly|alternatively|another (?:way|method|approach)"
    r"|(?:you|one) (?:can|could|may|might) also|similarly|hope (?:this|that|it)|i hope|let me know"
    r"|feel free|please (?:let|note|feel|tell)|if you (?:have|need|would|want|like)|thank|thanks|good luck"
    r"|have a (?:great|nice)|great (?:question|job)|happy to|would you like|do you (?:want|need|have)"
    r"|this (?:is because|matches|agrees|confirms|checks|verifies|makes sense|works|completes|shows why"
    r"|satisfies)|these (?:match|agree|satisfy)|(?:and )?(?:it|this|that) (?:is|was) (?:consistent|correct"
    r"|verified)|plugging|substituting (?:back|this back|it back|these back)|explanation|reason(?:ing)?:"
    r"|difficulty|topic|subject|source|level|confidence|category|tags?:|difficulty level|key (?:idea"
    r"|concept)|disclaimer|reference|probe\b|kontrolle\b|hinweis|v[ée]rification|remarque|comprobaci[óo]n"
    r"|verificaci[óo]n|verifica\b|nota:|проверка|замечание|验证|检验|检查|注意|注[:：]|备注|検算|確認|검산"
    r"|참고|✓|✔|q\.?e\.?d|∎|□|■)"
)
# Sentences that say what is to be done, not what came out.
INTENTION = (
    r"(?:^(?:problem|question|task|given|hint)\W|\b(?:(?:we|i|you|one) (?:still |now |then |just |will "
    r"|'ll )*(?:need|have|want|wish|must|could|might|may|try|are asked|are given|are told|know that we"
    r"|should|can try)(?: to)? (?:to )?(?:find|evaluate|compute|calculate|determine|solve|consider|check"
    r"|count|show|prove|know|use|look|write|express|figure|figure out|convert|simplify|add|subtract"
    r"|multiply|divide|do|get|try|list)\b|(?:we|i) (?:need|want|must find|are looking for|are asked"
    r"|wish)\b|(?:we|i)(?:'ll| will| shall| are going to) (?:now |then |first )?\w+|let(?:'s|’s| us| me)\b"
    r"|this (?:problem|question) (?:is about|involves|concerns)|(?:the )?(?:problem|question) (?:asks"
    r"|wants|says|states|is asking)|(?:first|next|now|then),? (?:we |i )?(?:need|have to|must|let)\b|(?:is"
    r"|are) (?:asked|given|required) to|(?:it )?remains to|our (?:goal|task|aim|job) is|suppose\b|assume\b"
    r"|^consider\b|^(?:find|evaluate|compute|calculate|determine|solve|simplify|prove|show)\b(?![:：])))"
)
REFUSAL = (
    r"(?:(?:we|i|you) (?:cannot|can't|can not|are unable to|am unable to) (?:find|determine|compute"
    r"|calculate|solve|answer|evaluate|express|conclude)(?![^.]*\bbut\b)|answer is (?:unclear|uncertain"
    r"|unknown|not clear)|i (?:do not|don't|don’t|cannot|can't|can’t|could not|am unable|am not able"
    r"|'m not able|'m unable|am sorry|'m sorry|apologi[sz]e)|i'm (?:sorry|unable|not sure)|sorry"
    r"|not enough information|insufficient information|unable to (?:determine|solve|answer|find|provide)"
    r"|cannot (?:be (?:determined|solved|answered) (?:without|from|with)|assist|help|answer|provide"
    r"|determine|solve)|can't (?:be determined|help|assist)|no idea|unknown at this|as an ai\b"
    r"|need more information|more information (?:is|would be) (?:needed|required)|would need (?:to|more)"
    r"|无法(?:确定|回答)|不知道)"
)
